/** A point in time inside an expression. CEL: `google.protobuf.Timestamp`, here in whole milliseconds. */
export class TimestampValue {
  readonly ms: number

  constructor(ms: number) {
    this.ms = ms
  }
}

/** A length of time inside an expression. CEL: `google.protobuf.Duration`, here in whole milliseconds. */
export class TimeSpanValue {
  readonly ms: number

  constructor(ms: number) {
    this.ms = ms
  }
}

/** Whether the value is a point in time. */
export function isTimestamp(value: unknown): value is TimestampValue {
  return value instanceof TimestampValue
}

/** Whether the value is a length of time. */
export function isTimeSpan(value: unknown): value is TimeSpanValue {
  return value instanceof TimeSpanValue
}

/** The parts of a point in time, in UTC. */
export interface CivilTime {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
  readonly hours: number
  readonly minutes: number
  readonly seconds: number
  readonly milliseconds: number
  /** 0 = Sunday. */
  readonly dayOfWeek: number
  /** 0 = the first of January. */
  readonly dayOfYear: number
}

const DAY_MS = 86_400_000
const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/
const SPAN_PART = /(\d+(?:\.\d+)?)(ms|s|m|h)/y
const SPAN_UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Milliseconds since 1970 of an RFC 3339 text; `undefined` when it is none or names no real day. */
export function parseTimestampMs(text: string): number | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const part = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hours, minutes, seconds] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined
  if (hours > 23 || minutes > 59 || seconds > 59 || part(9) > 23 || part(10) > 59) return undefined
  const fractionMs = Math.trunc(Number(`0.${match[7] ?? '0'}`) * 1_000)
  const offsetMs = (match[8] === '-' ? -1 : 1) * (part(9) * 3_600_000 + part(10) * 60_000)
  const timeMs = hours * 3_600_000 + minutes * 60_000 + seconds * 1_000 + fractionMs
  return daysSince1970(year, month, day) * DAY_MS + timeMs - offsetMs
}

/** RFC 3339 text in UTC, with milliseconds only where there are some. */
export function formatTimestamp(value: TimestampValue): string {
  const time = civilTimeOf(value.ms)
  const date = `${String(time.year).padStart(4, '0')}-${two(time.month)}-${two(time.day)}`
  const fraction = time.milliseconds === 0 ? '' : `.${String(time.milliseconds).padStart(3, '0')}`
  return `${date}T${two(time.hours)}:${two(time.minutes)}:${two(time.seconds)}${fraction}Z`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}

/** Milliseconds of a text such as `1h30m` or `-2.5s`; `undefined` when it is none. */
export function parseTimeSpanMs(text: string): number | undefined {
  const negative = text.startsWith('-')
  let at = negative || text.startsWith('+') ? 1 : 0
  if (at === text.length) return undefined
  let totalMs = 0
  while (at < text.length) {
    SPAN_PART.lastIndex = at
    const match = SPAN_PART.exec(text)
    const unitMs = SPAN_UNITS_MS[match?.[2] ?? '']
    if (match === null || unitMs === undefined) return undefined
    totalMs += Number(match[1]) * unitMs
    at += match[0].length
  }
  const whole = Math.trunc(totalMs)
  return Number.isSafeInteger(whole) ? (negative ? -whole : whole) : undefined
}

/** Seconds with unit, as CEL prints a duration: `5400s`, `0.5s`. */
export function formatTimeSpan(value: TimeSpanValue): string {
  return `${String(value.ms / 1_000)}s`
}

/** Year, month, day and time of day of milliseconds since 1970, in the Gregorian calendar and UTC. */
export function civilTimeOf(ms: number): CivilTime {
  const days = Math.floor(ms / DAY_MS)
  const inDay = ms - days * DAY_MS
  // The calendar repeats every 400 years of 146,097 days; counting from 1 March puts the leap day last.
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfMarchYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfMarchYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return {
    year,
    month,
    day: dayOfMarchYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
    hours: Math.floor(inDay / 3_600_000),
    minutes: Math.floor(inDay / 60_000) % 60,
    seconds: Math.floor(inDay / 1_000) % 60,
    milliseconds: Math.floor(inDay) % 1_000,
    dayOfWeek: (((days + 4) % 7) + 7) % 7,
    dayOfYear: days - daysSince1970(year, 1, 1),
  }
}

function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
