import type { FunctionDefinition } from './function-table.ts'
import { typeNameOf } from './static-type.ts'
import {
  civilTimeOf,
  isTimeSpan,
  isTimestamp,
  parseTimestampMs,
  TimestampValue,
  type CivilTime,
} from './time-values.ts'

/** Functions on points and lengths of time, in UTC. None of them reads a clock. */
export const TIME_FUNCTIONS: readonly FunctionDefinition[] = [
  {
    name: 'timestamp',
    form: 'global',
    parameters: ['dyn'],
    returns: 'timestamp',
    doc: 'point in time of an RFC 3339 text, or of seconds since 1970; as a result it is RFC 3339 text (milliseconds where a timestamp is asked for)',
    body: timestampFrom,
  },
  part('getFullYear', 'the year', time => time.year),
  part('getMonth', 'the month, 0 to 11', time => time.month - 1),
  part('getDate', 'the day of the month, 1 to 31', time => time.day),
  part('getDayOfMonth', 'the day of the month, 0 to 30', time => time.day - 1),
  part('getDayOfWeek', 'the day of the week, 0 = Sunday', time => time.dayOfWeek),
  part('getDayOfYear', 'the day of the year, 0 to 365', time => time.dayOfYear),
  part('getHours', 'the hour, 0 to 23', time => time.hours),
  part('getMinutes', 'the minute', time => time.minutes),
  part('getSeconds', 'the second', time => time.seconds),
  part('getMilliseconds', 'the milliseconds of the second', time => time.milliseconds),
  total('getHours', 'all of it in whole hours', 3_600_000),
  total('getMinutes', 'all of it in whole minutes', 60_000),
  total('getSeconds', 'all of it in whole seconds', 1_000),
  total('getMilliseconds', 'all of it in milliseconds', 1),
]

function timestampFrom(value: unknown): TimestampValue {
  if (isTimestamp(value)) return value
  if (typeof value === 'string') {
    const ms = parseTimestampMs(value)
    if (ms !== undefined) return new TimestampValue(ms)
    throw new RangeError('a timestamp is RFC 3339 text such as "2024-05-01T12:00:00Z"')
  }
  if (typeof value === 'number' && Number.isSafeInteger(value * 1_000)) return new TimestampValue(value * 1_000)
  throw new TypeError(`timestamp() takes RFC 3339 text or whole seconds since 1970, got ${typeNameOf(value)}`)
}

function part(name: string, doc: string, pick: (time: CivilTime) => number): FunctionDefinition {
  return {
    name,
    form: 'method',
    parameters: ['timestamp'],
    returns: 'number',
    doc,
    body: value => (isTimestamp(value) ? pick(civilTimeOf(value.ms)) : null),
  }
}

function total(name: string, doc: string, unitMs: number): FunctionDefinition {
  return {
    name,
    form: 'method',
    parameters: ['duration'],
    returns: 'number',
    doc,
    body: value => (isTimeSpan(value) ? Math.trunc(value.ms / unitMs) : null),
  }
}
