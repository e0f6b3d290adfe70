import type { EngineConfig } from '../config/engine-config.ts'
import type { CommitReason } from './commit-strategy.ts'

/** Bytes of one transaction at which it is committed early: they bound undo logs and what an abort repeats. */
const TRANSACTION_BYTES_MAX = 67_108_864

/** The bounds of one transaction. */
export interface CommitScheduleOptions {
  readonly intervalMs: number
  /** Age at which a transaction is committed whatever the interval: half of its timeout, so that the broker never does it for us. */
  readonly ageMaxMs: number
  /** Bytes written in a transaction at which it is committed: bounds undo logs and what an abort repeats. */
  readonly bytesMax: number
}

/** What the schedule looks at each turn. */
export interface UncommittedWork {
  readonly exists: boolean
  readonly transactionOpenedAtMs: number | undefined
  readonly transactionBytes: number
  /** Whether it has as many input records as it may have. */
  readonly isFull: boolean
  /** Whether nothing is left to process for now. */
  readonly isIdle: boolean
}

/** A timer of a millisecond is not worth waiting for. */
const TIMER_MS = 0.5
/** Weights of the newest commit in the average of what commits take, and in that of how they vary; as RFC 6298 has them. */
const AVERAGE_SHARE = 1 / 8
const VARIATION_SHARE = 1 / 4
const VARIATIONS = 2

/** The bounds that a configuration sets. */
export function commitScheduleOf(
  config: Pick<EngineConfig, 'commitIntervalMs' | 'transactionTimeoutMs'>,
  nowMs: number,
): CommitSchedule {
  const { commitIntervalMs: intervalMs, transactionTimeoutMs } = config
  return new CommitSchedule({ intervalMs, ageMaxMs: transactionTimeoutMs / 2, bytesMax: TRANSACTION_BYTES_MAX }, nowMs)
}

/**
 * Decides when a commit is due (step 1 of the commit cycle). A thread that has records to process commits whenever the
 * interval has passed since the end of the last commit, as Kafka Streams does. One that waits for records has nothing to
 * lose by it: it commits so early that results are visible within the interval, as far as commits take as long as they
 * did, and waits for at least half of the interval in between.
 */
export class CommitSchedule {
  readonly #options: CommitScheduleOptions
  /** When the last commit ended, or the running interval began. */
  #lastMs: number
  /** When the last commit began: what came meanwhile waits since then at the most. */
  #fromMs: number
  #averageMs = 0
  #variationMs = 0
  #requested = false

  constructor(options: CommitScheduleOptions, nowMs: number) {
    this.#options = options
    this.#lastMs = nowMs
    this.#fromMs = nowMs
  }

  /** A processor asked for a commit soon. */
  readonly request = (): void => {
    this.#requested = true
  }

  /** Why a commit is due now, or `undefined`. As in Kafka Streams the interval runs freely: an idle stretch does not delay the next commit. */
  due(nowMs: number, work: UncommittedWork): CommitReason | undefined {
    const elapsed = nowMs - this.#lastMs >= this.#options.intervalMs
    if (!work.exists) {
      if (elapsed) {
        this.#lastMs = nowMs - ((nowMs - this.#lastMs) % this.#options.intervalMs)
        this.#fromMs = this.#lastMs
      }
      return undefined
    }
    if (this.#requested) return 'requested'
    if (elapsed || (work.isIdle && nowMs >= this.nextMs(true) - TIMER_MS)) return 'interval'
    if (work.transactionOpenedAtMs !== undefined && nowMs - work.transactionOpenedAtMs >= this.#options.ageMaxMs)
      return 'age'
    return work.isFull || work.transactionBytes >= this.#options.bytesMax ? 'size' : undefined
  }

  /** When the next commit is due by the interval; earlier for a thread that `isIdle`. */
  nextMs(isIdle: boolean): number {
    const { intervalMs } = this.#options
    if (!isIdle) return this.#lastMs + intervalMs
    const commitMs = this.#averageMs + VARIATIONS * this.#variationMs
    const nextMs = Math.max(this.#lastMs + intervalMs / 2, this.#fromMs + intervalMs - commitMs)
    return Math.min(nextMs, this.#lastMs + intervalMs)
  }

  /** A commit was acknowledged. */
  committed(startedMs: number, endedMs: number): void {
    const tookMs = endedMs - startedMs
    this.#variationMs += (Math.abs(tookMs - this.#averageMs) - this.#variationMs) * VARIATION_SHARE
    this.#averageMs += (tookMs - this.#averageMs) * AVERAGE_SHARE
    this.ended(endedMs)
    this.#fromMs = startedMs
  }

  /** An abort ended, or a commit of nothing. */
  ended(nowMs: number): void {
    this.#lastMs = nowMs
    this.#fromMs = nowMs
    this.#requested = false
  }
}
