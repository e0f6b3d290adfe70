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
}

/** The bounds that a configuration sets. */
export function commitScheduleOf(
  config: Pick<EngineConfig, 'commitIntervalMs' | 'transactionTimeoutMs'>,
  nowMs: number,
): CommitSchedule {
  const { commitIntervalMs: intervalMs, transactionTimeoutMs } = config
  return new CommitSchedule({ intervalMs, ageMaxMs: transactionTimeoutMs / 2, bytesMax: TRANSACTION_BYTES_MAX }, nowMs)
}

/** Decides when a commit is due (step 1 of the commit cycle). */
export class CommitSchedule {
  readonly #options: CommitScheduleOptions
  #lastMs: number
  #requested = false

  constructor(options: CommitScheduleOptions, nowMs: number) {
    this.#options = options
    this.#lastMs = nowMs
  }

  /** A processor asked for a commit soon. */
  readonly request = (): void => {
    this.#requested = true
  }

  /** Why a commit is due now, or `undefined`. As in Kafka Streams the interval runs freely: an idle stretch does not delay the next commit. */
  due(nowMs: number, work: UncommittedWork): CommitReason | undefined {
    const elapsed = nowMs - this.#lastMs >= this.#options.intervalMs
    if (!work.exists) {
      if (elapsed) this.#lastMs = nowMs - ((nowMs - this.#lastMs) % this.#options.intervalMs)
      return undefined
    }
    if (this.#requested) return 'requested'
    if (elapsed) return 'interval'
    if (work.transactionOpenedAtMs !== undefined && nowMs - work.transactionOpenedAtMs >= this.#options.ageMaxMs)
      return 'age'
    return work.isFull || work.transactionBytes >= this.#options.bytesMax ? 'size' : undefined
  }

  /** When the interval is over next. */
  nextMs(): number {
    return this.#lastMs + this.#options.intervalMs
  }

  /** A commit or an abort ended. */
  ended(nowMs: number): void {
    this.#lastMs = nowMs
    this.#requested = false
  }
}
