import type { Clock } from '../model/clock.ts'
import type { MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { Logger } from '../model/logger.ts'
import type { DropReason } from '../model/record-failure.ts'
import type { RecordMetadata } from '../model/record.ts'
import type { CommitReason } from './commit-strategy.ts'
import { DroppedRecords } from './dropped-records.ts'
import type { EventLoopDelaySnapshot } from './event-loop-delay.ts'
import { AgeHistogram, DurationHistogram, type HistogramSnapshot } from './histograms.ts'
import { LatencySamples } from './latency-samples.ts'
import type { StreamTask } from './stream-task.ts'
import type { TaskState } from './task-state.ts'
import type { ThreadState } from './thread-state.ts'

/** How an open transaction of a writer holds up an input, as the instance knows it. */
export interface HeldInputAge {
  /** How long the last stable offset has stood still. */
  readonly heldForMs: number
  /** Age of the transaction that holds it: by its coordinator, where that was asked and tells, else as `heldForMs`. */
  readonly transactionAgeMs: number
}

/** Where one source partition stands. */
export interface PartitionSnapshot {
  /** Absent while nothing holds it up. */
  readonly held?: HeldInputAge
  readonly topic: string
  readonly partition: number
  readonly task: string
  readonly position: number
  readonly committed: number | undefined
  /** End of what a read_committed reader may read; `undefined` until something was fetched. */
  readonly lastStableOffset: number | undefined
  readonly highWatermark: number | undefined
  /** End of what was fetched; `undefined` while the partition is not read. */
  readonly fetchedTo: number | undefined
}

/** What went through one topic since the thread started. */
export interface TopicSnapshot {
  readonly topic: string
  readonly recordsConsumed: number
  readonly bytesConsumed: number
  readonly recordsProduced: number
  readonly bytesProduced: number
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
  readonly topics: readonly TopicSnapshot[]
  readonly recordsProcessed: number
  readonly recordsRestored: number
  readonly pollSeconds: HistogramSnapshot
  readonly processSeconds: HistogramSnapshot
  readonly punctuateSeconds: HistogramSnapshot
  readonly commitSeconds: HistogramSnapshot
  /** Stream time − event time of records behind stream time; buckets of `AGE_BUCKETS_SECONDS`. */
  readonly latenessSeconds: HistogramSnapshot
  /** Event time → acknowledged commit, sampled; buckets of `AGE_BUCKETS_SECONDS`. */
  readonly latencySeconds: HistogramSnapshot
  readonly commits: ReadonlyMap<CommitReason, number>
  readonly aborts: ReadonlyMap<MillraceErrorCode, number>
  readonly dropped: ReadonlyMap<DropReason, number>
  readonly rebalances: number
  /** Age of the open transaction; `undefined` while none is open. */
  readonly transactionAgeMs: number | undefined
  /** How long brokers have asked the thread to pause, because a quota was used up. */
  readonly throttledMs: number
  /** How late timers of the thread fired over the last minute. */
  readonly eventLoopDelay: EventLoopDelaySnapshot
}

/** What a snapshot takes from the counters; the rest is asked of tasks and clients. */
export type ThreadCounters = Pick<
  ThreadSnapshot,
  | 'turnAgeMs'
  | 'recordsProcessed'
  | 'pollSeconds'
  | 'processSeconds'
  | 'punctuateSeconds'
  | 'commitSeconds'
  | 'latencySeconds'
  | 'commits'
  | 'aborts'
  | 'dropped'
  | 'rebalances'
>

/** What a task has counted of its own. */
export type TaskCounters = Pick<StreamTask, 'lateness' | 'consumed'>

/** Counters of one thread; updated per chunk and per commit, never per record except for drops. */
export class ThreadMetrics {
  /** Ages of records when their results become visible. */
  readonly latency = new LatencySamples()
  readonly #pollSeconds = new DurationHistogram()
  readonly #processSeconds = new DurationHistogram()
  readonly #punctuateSeconds = new DurationHistogram()
  readonly #commitSeconds = new DurationHistogram()
  readonly #commits = new Map<CommitReason, number>()
  readonly #aborts = new Map<MillraceErrorCode, number>()
  readonly #dropped = new Map<DropReason, number>()
  readonly #dropReport: DroppedRecords
  readonly #bytesConsumed = new Map<string, number>()
  /** Of tasks that are closed: counters never go back. */
  readonly #recordsConsumed = new Map<string, number>()
  readonly #lateness = new AgeHistogram()
  #recordsProcessed = 0
  #rebalances = 0
  #turnedAtMs: number | undefined
  #waitsSinceMs: number | undefined
  #onTurn: (() => void) | undefined

  constructor(logger: Logger) {
    this.#dropReport = new DroppedRecords(logger)
  }

  /** The loop has done what there was to do in this turn. */
  waits(nowMs: number): void {
    this.#waitsSinceMs = nowMs
  }

  processed(records: number, tookMs: number): void {
    this.#recordsProcessed += records
    this.#processSeconds.observe(tookMs)
  }

  /** Makes the call of a punctuation, and takes its time. */
  punctuate(punctuation: () => void, clock: Pick<Clock, 'nowMs'>): void {
    const startedMs = clock.nowMs()
    try {
      punctuation()
    } finally {
      this.#punctuateSeconds.observe(clock.nowMs() - startedMs)
    }
  }

  /** A block of a topic went to its task, with its bytes as they were fetched. */
  taken(topic: string, bytes: number): void {
    add(this.#bytesConsumed, topic, bytes)
  }

  /** The task is closed: what it has counted stays. */
  retired({ consumed, lateness }: TaskCounters): void {
    for (const { topic, records } of consumed) add(this.#recordsConsumed, topic, records)
    this.#lateness.add(lateness)
  }

  committed(reason: CommitReason, tookMs: number): void {
    add(this.#commits, reason, 1)
    this.#commitSeconds.observe(tookMs)
  }

  aborted(cause: MillraceError): void {
    add(this.#aborts, cause.code, 1)
  }

  /** @param at - source record of the last of them; read at once */
  dropped(reason: DropReason, count = 1, at?: RecordMetadata): void {
    add(this.#dropped, reason, count)
    this.#dropReport.add(reason, count, at)
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
    if (this.#waitsSinceMs !== undefined) this.#pollSeconds.observe(nowMs - this.#waitsSinceMs)
    this.#waitsSinceMs = undefined
    this.#dropReport.tellIfDue(nowMs)
    this.#onTurn?.()
  }

  /** The thread ends: what was not told yet is told now. */
  ended(nowMs: number): void {
    this.#dropReport.tell(nowMs)
  }

  /** Milliseconds since the loop last turned; 0 before its first turn. */
  turnAgeMs(nowMs: number): number {
    return this.#turnedAtMs === undefined ? 0 : nowMs - this.#turnedAtMs
  }

  /** Records and bytes consumed by topic, those of the given tasks and of closed ones. */
  consumption(
    tasks: readonly TaskCounters[],
  ): ReadonlyMap<string, { readonly records: number; readonly bytes: number }> {
    const records = new Map(this.#recordsConsumed)
    for (const { consumed } of tasks) for (const of of consumed) add(records, of.topic, of.records)
    return new Map(
      Array.from(records, ([topic, count]) => [topic, { records: count, bytes: this.#bytesConsumed.get(topic) ?? 0 }]),
    )
  }

  /** Lateness of the given tasks' records and of those of closed ones. */
  lateness(tasks: readonly TaskCounters[]): HistogramSnapshot {
    const all = new AgeHistogram()
    all.add(this.#lateness)
    for (const { lateness } of tasks) all.add(lateness)
    return all.snapshot()
  }

  counters(nowMs: number): ThreadCounters {
    return {
      turnAgeMs: this.turnAgeMs(nowMs),
      recordsProcessed: this.#recordsProcessed,
      pollSeconds: this.#pollSeconds.snapshot(),
      processSeconds: this.#processSeconds.snapshot(),
      punctuateSeconds: this.#punctuateSeconds.snapshot(),
      commitSeconds: this.#commitSeconds.snapshot(),
      latencySeconds: this.latency.snapshot(),
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
