import type { MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { DropReason } from '../model/record-failure.ts'
import type { CommitReason } from './commit-strategy.ts'
import type { TaskState } from './task-state.ts'
import type { ThreadState } from './thread-state.ts'

/** Upper bounds of the duration histograms, in seconds; the last bucket is open. */
export const DURATION_BUCKETS_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
]

/** A histogram as plain numbers, so that it can be posted between threads and merged by adding. */
export interface HistogramSnapshot {
  /** Observations per bucket of `DURATION_BUCKETS_SECONDS`, one more for the open bucket; not cumulative. */
  readonly counts: readonly number[]
  readonly sumSeconds: number
}

/** Where one source partition stands. */
export interface PartitionSnapshot {
  readonly topic: string
  readonly partition: number
  readonly task: string
  readonly position: number
  readonly committed: number | undefined
  /** End of what a read_committed reader may read; `undefined` until something was fetched. */
  readonly lastStableOffset: number | undefined
  readonly highWatermark: number | undefined
}

/** A store of a task. */
export interface StoreSnapshot {
  readonly task: string
  readonly store: string
  readonly entries: number
  readonly bytes: number
}

/** Everything a thread tells about itself, as plain data. */
export interface ThreadSnapshot {
  readonly thread: string
  readonly state: ThreadState
  /** Milliseconds since the loop last turned: a blocked loop shows here first. */
  readonly turnAgeMs: number
  readonly tasks: readonly { readonly id: string; readonly state: TaskState; readonly restoreRemaining: number }[]
  readonly partitions: readonly PartitionSnapshot[]
  readonly stores: readonly StoreSnapshot[]
  readonly recordsProcessed: number
  readonly recordsProduced: number
  readonly bytesProduced: number
  readonly processSeconds: HistogramSnapshot
  readonly commitSeconds: HistogramSnapshot
  readonly commits: ReadonlyMap<CommitReason, number>
  readonly aborts: ReadonlyMap<MillraceErrorCode, number>
  readonly dropped: ReadonlyMap<DropReason, number>
  readonly rebalances: number
  /** Age of the open transaction; `undefined` while none is open. */
  readonly transactionAgeMs: number | undefined
}

class DurationHistogram {
  readonly #counts: number[] = Array.from({ length: DURATION_BUCKETS_SECONDS.length + 1 }, () => 0)
  #sumSeconds = 0

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1_000
    let bucket = 0
    while (bucket < DURATION_BUCKETS_SECONDS.length && seconds > (DURATION_BUCKETS_SECONDS[bucket] ?? 0)) bucket += 1
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sumSeconds += seconds
  }

  snapshot(): HistogramSnapshot {
    return { counts: [...this.#counts], sumSeconds: this.#sumSeconds }
  }
}

/** Counters of one thread; updated per chunk and per commit, never per record except for drops. */
export class ThreadMetrics {
  readonly #processSeconds = new DurationHistogram()
  readonly #commitSeconds = new DurationHistogram()
  readonly #commits = new Map<CommitReason, number>()
  readonly #aborts = new Map<MillraceErrorCode, number>()
  readonly #dropped = new Map<DropReason, number>()
  #recordsProcessed = 0
  #rebalances = 0
  #turnedAtMs: number | undefined
  #onTurn: (() => void) | undefined

  processed(records: number, tookMs: number): void {
    this.#recordsProcessed += records
    this.#processSeconds.observe(tookMs)
  }

  committed(reason: CommitReason, tookMs: number): void {
    add(this.#commits, reason, 1)
    this.#commitSeconds.observe(tookMs)
  }

  aborted(cause: MillraceError): void {
    add(this.#aborts, cause.code, 1)
  }

  dropped(reason: DropReason, count = 1): void {
    add(this.#dropped, reason, count)
  }

  rebalanced(): void {
    this.#rebalances += 1
  }

  /** Called at every turn of the loop. */
  onTurn(listener: () => void): void {
    this.#onTurn = listener
  }

  turnedAt(nowMs: number): void {
    this.#turnedAtMs = nowMs
    this.#onTurn?.()
  }

  /** Milliseconds since the loop last turned; 0 before its first turn. */
  turnAgeMs(nowMs: number): number {
    return this.#turnedAtMs === undefined ? 0 : nowMs - this.#turnedAtMs
  }

  counters(
    nowMs: number,
  ): Omit<
    ThreadSnapshot,
    'thread' | 'state' | 'tasks' | 'partitions' | 'stores' | 'transactionAgeMs' | 'recordsProduced' | 'bytesProduced'
  > {
    return {
      turnAgeMs: this.turnAgeMs(nowMs),
      recordsProcessed: this.#recordsProcessed,
      processSeconds: this.#processSeconds.snapshot(),
      commitSeconds: this.#commitSeconds.snapshot(),
      commits: new Map(this.#commits),
      aborts: new Map(this.#aborts),
      dropped: new Map(this.#dropped),
      rebalances: this.#rebalances,
    }
  }
}

function add<K>(counters: Map<K, number>, key: K, count: number): void {
  counters.set(key, (counters.get(key) ?? 0) + count)
}
