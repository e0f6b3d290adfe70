import { assert } from '../../model/assert.ts'
import type { Clock } from '../../model/clock.ts'
import { crashPoint } from '../../model/crash-point.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { TopicPartitionMap } from '../../model/topic-partition.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Deadline } from '../cluster/deadline.ts'
import type { GroupMembership } from '../group-membership.ts'
import type { OffsetAndMetadata } from '../offset-and-metadata.ts'
import type { ResponseBodies } from '../protocol/api.ts'
import { type TransactionAnswer, type TransactionCalls, CallFailure, failureOf } from './transaction-calls.ts'
import { EarlyAdding } from './early-adding.ts'
import { PartitionAdder } from './partition-adder.ts'
import type { PartitionLane } from './partition-lane.ts'
import { asksFirst, brokerFailure } from './producer-failure.ts'
import { fencedError, type ProducerIdentity } from './producer-identity.ts'
import type { ProducerSession } from './producer-session.ts'
import type { ProducerStamp } from './send-gate.ts'
import { TransactionOffsets } from './transaction-offsets.ts'
import { nextTransactionState, type TransactionEvent, type TransactionState } from './transaction-state.ts'
import { type SpokenVersions, spokenVersions } from './transaction-versions.ts'

/**
 * What is wrong with the current epoch (I9). `unsure`: a request got no answer and may still arrive. `broken`: sequences
 * are missing, or the broker refused something. `disputed`: the broker thinks of another epoch or transaction than we do.
 */
type Doubt = 'none' | 'unsure' | 'broken' | 'disputed'
const SEVERITY: Readonly<Record<Doubt, number>> = { none: 0, unsure: 1, broken: 2, disputed: 3 }

/** Settings of `TransactionManager`; see `ProducerOptions`. */
export interface TransactionManagerOptions {
  readonly calls: TransactionCalls
  readonly cluster: Cluster
  readonly clock: Clock
  readonly identity: ProducerIdentity
  readonly transactionalId: string
  /** Bound of the calls that no caller waits for with a deadline of its own. */
  readonly callTimeoutMs: number
  /** The transaction cannot go on. */
  readonly onFailed: (error: MillraceError) => void
  /** Partitions may be sent to that could not before. */
  readonly onAdmitted: () => void
}

/**
 * The one transaction of a producer, from its first request to the broker's word on its end. Apart from the Produce
 * requests themselves everything transactional is sent from here, `PartitionAdder` and `ProducerIdentity`. Kafka:
 * `TransactionManager`.
 */
export class TransactionManager implements ProducerSession {
  readonly #options: TransactionManagerOptions
  readonly #adder: PartitionAdder
  readonly #offsets: TransactionOffsets
  readonly #earlyAdding = new EarlyAdding()
  #state: TransactionState = 'uninitialized'
  #serial = 0
  #openedAtMs: number | undefined
  #opening: Promise<void> | undefined
  #doubt: Doubt = 'none'

  constructor(options: TransactionManagerOptions) {
    this.#options = options
    this.#offsets = new TransactionOffsets({
      calls: options.calls,
      identity: options.identity,
      transactionalId: options.transactionalId,
      onLost: () => {
        this.noteUnsure()
      },
    })
    this.#adder = new PartitionAdder({
      calls: options.calls,
      cluster: options.cluster,
      identity: options.identity,
      timeoutMs: options.callTimeoutMs,
      transaction: {
        transactionalId: options.transactionalId,
        open: async () => {
          await this.#open(options.calls.deadline(options.callTimeoutMs))
          return this.#serial
        },
        isOpen: serial => this.#state === 'open' && this.#serial === serial,
        noteUnsure: () => {
          this.noteUnsure()
        },
        failed: (error, kafkaCode) => {
          if (this.#state === 'aborting' || this.#state === 'fenced') return
          this.noteFailure(kafkaCode)
          options.onFailed(error)
        },
        added: options.onAdmitted,
      },
    })
  }

  get state(): TransactionState {
    return this.#state
  }

  /** Monotonic time at which the first request of the open transaction was about to be sent. */
  get openedAtMs(): number | undefined {
    return this.#openedAtMs
  }

  get stamp(): ProducerStamp {
    return this.#options.identity.stamp
  }

  get provesFirstSequence(): boolean {
    return this.#options.identity.protocol === 2
  }

  get produceVersions(): SpokenVersions {
    return spokenVersions(this.#options.identity.protocol, 'Produce')
  }

  admits(lane: PartitionLane): boolean {
    if (this.#holds(lane)) return true
    if (this.#state === 'open' || this.#state === 'idle') this.#adder.add(lane)
    return false
  }

  expects(lane: PartitionLane, nowMs: number): void {
    if (lane.awaitsAdding || this.#holds(lane)) return
    if (this.#earlyAdding.allows(nowMs)) this.admits(lane)
  }

  noteUnsure(): void {
    this.#raise('unsure')
  }

  noteFailure(kafkaCode: number): void {
    this.#raise(kafkaCode !== 0 && asksFirst(kafkaCode, 'transaction') ? 'disputed' : 'broken')
  }

  async initialize(deadline: Deadline): Promise<void> {
    await this.#options.identity.acquire(deadline)
    this.#begunAnew()
  }

  /** Offsets into the transaction, on behalf of a generation (KIP-447). See `Producer.sendOffsets`. */
  async sendOffsets(
    groupId: string,
    member: GroupMembership,
    offsets: TopicPartitionMap<OffsetAndMetadata>,
    deadline: Deadline,
  ): Promise<'done' | 'illegalGeneration'> {
    // The broker takes generation −1 with no member from anybody, even on a live group: a zombie would not be fenced (I5).
    assert(member.generationId >= 0 && member.memberId !== '', 'I5 fencing', { ...member })
    if (offsets.size === 0) return 'done'
    try {
      await this.#open(deadline)
      return await this.#offsets.send(groupId, member, offsets, deadline)
    } catch (error) {
      throw this.#noted(error)
    }
  }

  /** EndTxn(commit). See `Producer.commitTransaction`. */
  async commit(deadline: Deadline): Promise<'committed' | 'unknown'> {
    if (this.#state === 'idle') return 'committed'
    this.#move('commitSent')
    let result: TransactionAnswer<'EndTxn'>
    try {
      result = await this.#endTxn(true, deadline)
    } catch (error) {
      if (!(error instanceof CallFailure) || error.inDoubt) return this.#outcomeUnknown()
      this.#move('refused')
      throw this.#noted(error)
    }
    const { answer, afterDoubt } = result
    if (answer.errorCode === 0) {
      crashPoint('endTxn:answered')
      this.#ended('committed', answer)
      return 'committed'
    }
    // After a lost answer a refusal proves nothing: the first attempt may have committed (I10).
    if (afterDoubt) return this.#outcomeUnknown()
    this.#move('refused')
    throw this.#noted(brokerFailure(answer.errorCode, 'transaction', this.#placeOf('EndTxn')))
  }

  async abort(deadline: Deadline, gap: boolean): Promise<void> {
    assert(
      this.#state !== 'committing' && this.#state !== 'unknown',
      'I10 an unknown outcome is asked for, not aborted',
    )
    await this.#openingSettled(deadline)
    this.#adder.clear()
    if (gap) this.#raise('broken')
    if (this.#state === 'fenced') throw fencedError(this.#options.transactionalId)
    if (this.#state === 'uninitialized') return
    if (this.#state === 'idle') {
      if (this.#mustRenew) await this.#renewOrThrow(deadline)
      return
    }
    this.#move('abortStarted')
    this.#openedAtMs = undefined
    if (this.#doubt !== 'disputed' && (await this.#endAborted(deadline))) return
    await this.#renewOrThrow(deadline)
  }

  #holds(lane: PartitionLane): boolean {
    return this.#state === 'open' && lane.addedIn === this.#serial
  }

  /** A new epoch of our own id. See `Producer.refence`. */
  async refence(deadline: Deadline): Promise<'ours' | 'fenced'> {
    assert(this.#state !== 'committing', 'one call ends a transaction at a time')
    await this.#openingSettled(deadline)
    return this.#renew(deadline)
  }

  async #renew(deadline: Deadline): Promise<'ours' | 'fenced'> {
    this.#adder.clear()
    if ((await this.#options.identity.renew(deadline)) === 'fenced') {
      this.#move('fencedByOther')
      this.#openedAtMs = undefined
      return 'fenced'
    }
    this.#begunAnew()
    return 'ours'
  }

  /** An opening under way would go on behind the back of whoever ends the transaction. */
  async #openingSettled(deadline: Deadline): Promise<void> {
    if (this.#opening === undefined) return
    await deadline.bound(
      'The transaction that was being opened was not settled',
      this.#opening.catch(() => undefined),
    )
  }

  /** Whether the epoch must not be used for another transaction (I9). With protocol 2 its end has raised it already. */
  get #mustRenew(): boolean {
    const { identity } = this.#options
    if (identity.protocolChanged || this.#doubt === 'broken' || this.#doubt === 'disputed') return true
    return this.#doubt === 'unsure' && identity.protocol === 1
  }

  /** Opens a transaction when none is; callers at the same time share one opening. */
  async #open(deadline: Deadline): Promise<void> {
    if (this.#state === 'open') return
    this.#opening ??= this.#begin(deadline).finally(() => {
      this.#opening = undefined
    })
    await this.#opening
  }

  async #begin(deadline: Deadline): Promise<void> {
    if (this.#state === 'fenced') throw fencedError(this.#options.transactionalId)
    if (this.#state === 'idle' && this.#mustRenew) await this.#renewOrThrow(deadline)
    this.#move('begun')
    this.#serial += 1
    this.#openedAtMs = this.#options.clock.nowMs()
  }

  async #renewOrThrow(deadline: Deadline): Promise<void> {
    if ((await this.#renew(deadline)) === 'fenced') throw fencedError(this.#options.transactionalId)
  }

  #endTxn(committed: boolean, deadline: Deadline): Promise<TransactionAnswer<'EndTxn'>> {
    const { calls, transactionalId, identity } = this.#options
    const { producerId, epoch } = identity.stamp
    return calls.call({
      route: { kind: 'transaction', id: transactionalId },
      api: 'EndTxn',
      versions: spokenVersions(identity.protocol, 'EndTxn'),
      body: { transactionalId, producerId, producerEpoch: epoch, committed },
      callKind: 'transaction',
      deadline,
      // With protocol 1 a late first copy could end the next transaction of the same epoch (F18).
      resendsLost: identity.protocol === 2,
      codesOf: ({ errorCode }) => [errorCode],
      onSent: () => {
        if (committed) crashPoint('endTxn:sent')
      },
      onLost: () => {
        this.noteUnsure()
      },
    })
  }

  /** Whether EndTxn(abort) has settled it; if not, only a new epoch can. */
  async #endAborted(deadline: Deadline): Promise<boolean> {
    let answer: ResponseBodies['EndTxn']
    try {
      answer = (await this.#endTxn(false, deadline)).answer
    } catch (error) {
      const failure = failureOf(error)
      if (deadline.passed || failure.reaction === 'stop') throw failure
      return false
    }
    // Whatever is refused: whether another process has the id is for InitProducerId to say.
    if (answer.errorCode !== 0) return false
    // A copy of a request that is still on its way would open the next transaction by itself, under the same epoch.
    if (this.#options.identity.protocol === 1 && this.#doubt !== 'none') return false
    this.#ended('aborted', answer)
    return true
  }

  #outcomeUnknown(): 'unknown' {
    this.noteUnsure()
    this.#move('answerLost')
    this.#openedAtMs = undefined
    return 'unknown'
  }

  #ended(event: 'committed' | 'aborted', answer: ResponseBodies['EndTxn']): void {
    const { identity, clock } = this.#options
    this.#move(event)
    this.#openedAtMs = undefined
    this.#offsets.restart()
    this.#earlyAdding.restart(clock.nowMs())
    if (identity.protocol === 1) return
    this.#doubt = 'none'
    identity.adopt(answer.producerId, answer.producerEpoch)
  }

  #begunAnew(): void {
    this.#move('initialized')
    this.#openedAtMs = undefined
    this.#offsets.restart()
    this.#doubt = 'none'
  }

  #move(event: TransactionEvent): void {
    this.#state = nextTransactionState(this.#state, event)
  }

  #raise(doubt: Doubt): void {
    if (SEVERITY[doubt] > SEVERITY[this.#doubt]) this.#doubt = doubt
  }

  /** The error to throw, after noting what it says about the epoch. */
  #noted(error: unknown): MillraceError {
    const failure = failureOf(error)
    this.noteFailure(failure.details.kafkaCode ?? 0)
    return failure
  }

  #placeOf(api: string): string {
    return `${api} of transactional id ${this.#options.transactionalId}`
  }
}
