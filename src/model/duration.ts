/**
 * A length of time: a number of milliseconds, or a number with a unit (`'500ms'`, `'10s'`, `'1m'`, `'2h'`, `'7d'`).
 * Kafka Streams: `java.time.Duration`.
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

/** A point in event time or wall-clock time, in milliseconds since 1970-01-01 UTC. Kafka Streams: `long` timestamps. */
export type TimestampMs = number

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a duration; `undefined` when it is none (not a number, an unknown unit, negative, or a fraction of 1 ms). */
export function parseDurationMs(duration: unknown): number | undefined {
  if (typeof duration === 'number') return Number.isSafeInteger(duration) && duration >= 0 ? duration : undefined
  if (typeof duration !== 'string') return undefined
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration)
  const unitMs = UNITS_MS[match?.[2] ?? '']
  if (match?.[1] === undefined || unitMs === undefined) return undefined
  const milliseconds = Number(match[1]) * unitMs
  return Number.isSafeInteger(milliseconds) ? milliseconds : undefined
}
