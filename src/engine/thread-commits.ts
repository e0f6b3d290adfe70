import type { Clock } from '../model/clock.ts'
import type { MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { Producer } from '../kafka/producer/producer.ts'
import type { ActiveTask } from './active-task.ts'
import type { AssignmentClaims } from './assignment-claims.ts'
import type { CommitSchedule } from './commit-schedule.ts'
import type { CommitReason, CommitStrategy } from './commit-strategy.ts'
import type { RepartitionPurge } from './repartition-purge.ts'
import type { ThreadMetrics } from './thread-metrics.ts'
import { TransactionSize } from './transaction-size.ts'

/** Failures of a transaction that took too long; done again as it was it may take as long. */
const TOO_SLOW: ReadonlySet<MillraceErrorCode> = new Set<MillraceErrorCode>([
  'REQUEST_TIMED_OUT',
  'TRANSACTION_TIMED_OUT',
])

/** What a commit decides by, works on and tells. */
export interface ThreadCommitsOptions {
  readonly clock: Clock
  readonly strategy: CommitStrategy
  readonly schedule: CommitSchedule
  readonly claims: AssignmentClaims
  readonly purge: RepartitionPurge
  readonly metrics: ThreadMetrics
  readonly producer: Pick<Producer, 'transaction'>
  /** How long a commit may take before something times out. */
  readonly commitMsMax: number
  readonly running: () => readonly ActiveTask[]
  /** Told of each acknowledged commit with the input records it covers. */
  readonly onCommit: (records: number) => void
  /** Told when what is uncommitted is given up. */
  readonly onForgotten: () => void
}

/** The commits of one thread: when, how, and what follows an acknowledged one. */
export class ThreadCommits {
  readonly #options: ThreadCommitsOptions
  readonly #size: TransactionSize
  #workEpoch: number | undefined
  #records = 0

  constructor(options: ThreadCommitsOptions) {
    this.#options = options
    this.#size = new TransactionSize(options.commitMsMax)
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

  /** How many more input records the open transaction may take. */
  get recordsLeft(): number {
    return this.#size.recordsMax - this.#records
  }

  get hasUncommittedWork(): boolean {
    return this.#options.producer.transaction.ongoing || this.#options.running().some(task => task.owesCommit)
  }

  /** Commits if a commit is due. @param isIdle - whether nothing is left to process for now */
  async commitIfDue(isIdle: boolean): Promise<void> {
    const { schedule, clock, producer } = this.#options
    const { openedAtMs, bytes } = producer.transaction
    const due = schedule.due(clock.nowMs(), {
      exists: this.hasUncommittedWork,
      transactionOpenedAtMs: openedAtMs,
      transactionBytes: bytes,
      isFull: this.recordsLeft <= 0,
      isIdle,
    })
    if (due !== undefined) await this.commit(due)
  }

  /** @throws MillraceError whose reaction says what must happen next */
  async commit(reason: CommitReason): Promise<void> {
    const { clock, strategy, schedule, metrics, purge, running } = this.#options
    const startedMs = clock.nowMs()
    const outcome = await strategy.commit(reason)
    const endedMs = clock.nowMs()
    this.#workEpoch = undefined
    if (outcome === 'nothing') {
      schedule.ended(endedMs)
      return
    }
    schedule.committed(startedMs, endedMs)
    const records = this.#records
    this.#records = 0
    this.#size.committed(records, endedMs - startedMs)
    metrics.committed(reason, endedMs - startedMs)
    metrics.latency.committed(clock.wallClockMs())
    this.#options.onCommit(records)
    purge.afterCommit(running(), endedMs)
  }

  /** Undoes everything since the last commit. */
  async abort(cause: MillraceError): Promise<void> {
    this.#options.metrics.aborted(cause)
    if (TOO_SLOW.has(cause.code)) this.#size.timedOut(this.#records)
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
