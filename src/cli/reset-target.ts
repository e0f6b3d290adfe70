import { parseDurationMs } from '../model/duration.ts'
import { UsageError } from './usage-error.ts'

/** Where input is read from after a reset. */
export type ResetTarget =
  | { readonly kind: 'earliest' }
  | { readonly kind: 'latest' }
  | { readonly kind: 'timestamp'; readonly timestampMs: number }
  | { readonly kind: 'age'; readonly ageMs: number }
  | { readonly kind: 'offset'; readonly offset: number }

/** The options of `reset` that name a target. */
export interface ResetTargetOptions {
  readonly toEarliest: boolean | undefined
  readonly toLatest: boolean | undefined
  readonly toDatetime: string | undefined
  readonly toOffset: string | undefined
  readonly byDuration: string | undefined
}

/** @throws UsageError for two targets, or one that cannot be read */
export function resetTarget(options: ResetTargetOptions): ResetTarget {
  const { toEarliest, toLatest, toDatetime, toOffset, byDuration } = options
  const targets: ResetTarget[] = [
    ...(toEarliest === true ? [{ kind: 'earliest' } as const] : []),
    ...(toLatest === true ? [{ kind: 'latest' } as const] : []),
    ...(toDatetime === undefined ? [] : [{ kind: 'timestamp', timestampMs: dateOf(toDatetime) } as const]),
    ...(toOffset === undefined ? [] : [{ kind: 'offset', offset: offsetOf(toOffset) } as const]),
    ...(byDuration === undefined ? [] : [{ kind: 'age', ageMs: durationOf(byDuration) } as const]),
  ]
  if (targets.length > 1) throw new UsageError('Name one target only, of --to-earliest, --to-latest, …')
  return targets[0] ?? { kind: 'earliest' }
}

function dateOf(text: string): number {
  const timestampMs = Date.parse(text)
  if (Number.isNaN(timestampMs)) throw new UsageError(`--to-datetime ${text}: write 2026-01-31T00:00:00Z.`)
  return timestampMs
}

function offsetOf(text: string): number {
  const offset = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(offset)) throw new UsageError(`--to-offset ${text}: a whole number.`)
  return offset
}

function durationOf(text: string): number {
  const durationMs = parseDurationMs(text)
  if (durationMs === undefined) throw new UsageError(`--by-duration ${text}: write 30s, 10m, 2h or 7d.`)
  return durationMs
}
