import type { Clock } from '../model/clock.ts'
import type { MillraceError } from '../model/errors.ts'
import type { Producer } from '../kafka/producer/producer.ts'
import type { ActiveTask } from './active-task.ts'
import type { AssignmentClaims } from './assignment-claims.ts'
import type { CommitSchedule } from './commit-schedule.ts'
import type { CommitReason, CommitStrategy } from './commit-strategy.ts'
import type { RepartitionPurge } from './repartition-purge.ts'
import type { ThreadMetrics } from './thread-metrics.ts'

/** What a commit decides by, works on and tells. */
export interface ThreadCommitsOptions {
  readonly clock: Clock
  readonly strategy: CommitStrategy
  readonly schedule: CommitSchedule
  readonly claims: AssignmentClaims
  readonly purge: RepartitionPurge
  readonly metrics: ThreadMetrics
  readonly producer: Pick<Producer, 'transaction'>
  readonly running: () => readonly ActiveTask[]
  /** Told of each acknowledged commit with the input records it covers. */
  readonly onCommit: (records: number) => void
  /** Told when what is uncommitted is given up. */
  readonly onForgotten: () => void
}

/** The commits of one thread: when, how, and what follows an acknowledged one. */
export class ThreadCommits {
  readonly #options: ThreadCommitsOptions
  #workEpoch: number | undefined
  #records = 0

  constructor(options: ThreadCommitsOptions) {
    this.#options = options
  }

  /** Epoch of the claims when the first uncommitted work began; `undefined` while there is none (I5). */
  get workEpoch(): number | undefined {
    return this.#workEpoch
  }

  /** Called before records are processed or punctuations run. */
  workBegins(): void {
    this.#workEpoch ??= this.#options.claims.epoch
  }

  processed(records: number): void {
    this.#records += records
  }

  get hasUncommittedWork(): boolean {
    return this.#options.producer.transaction.ongoing || this.#options.running().some(task => task.owesCommit)
  }

  /** Commits if a commit is due. */
  async commitIfDue(): Promise<void> {
    const { schedule, clock, producer } = this.#options
    const { openedAtMs, bytes } = producer.transaction
    const due = schedule.due(clock.nowMs(), {
      exists: this.hasUncommittedWork,
      transactionOpenedAtMs: openedAtMs,
      transactionBytes: bytes,
    })
    if (due !== undefined) await this.commit(due)
  }

  /** @throws MillraceError whose reaction says what must happen next */
  async commit(reason: CommitReason): Promise<void> {
    const { clock, strategy, schedule, metrics, purge, running } = this.#options
    const startedMs = clock.nowMs()
    const outcome = await strategy.commit(reason)
    const endedMs = clock.nowMs()
    schedule.ended(endedMs)
    this.#workEpoch = undefined
    if (outcome === 'nothing') return
    const records = this.#records
    this.#records = 0
    metrics.committed(reason, endedMs - startedMs)
    metrics.latency.committed(clock.wallClockMs())
    this.#options.onCommit(records)
    purge.afterCommit(running(), endedMs)
  }

  /** Undoes everything since the last commit. */
  async abort(cause: MillraceError): Promise<void> {
    this.#options.metrics.aborted(cause)
    await this.#options.strategy.abort(cause)
    this.forgotten()
  }

  /** Whatever was uncommitted is gone. */
  forgotten(): void {
    this.#workEpoch = undefined
    this.#records = 0
    this.#options.metrics.latency.forgotten()
    this.#options.onForgotten()
    this.#options.schedule.ended(this.#options.clock.nowMs())
  }
}
