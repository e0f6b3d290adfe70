import { assert } from '../../model/assert.ts'
import { crashPoint } from '../../model/crash-point.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import type { TopicPartitionMap } from '../../model/topic-partition.ts'
import type { GroupMembership } from '../group-membership.ts'
import type { OffsetAndMetadata } from '../offset-and-metadata.ts'
import { Accumulator, type RecordAppender } from './accumulator.ts'
import { EarliestAlarm } from './earliest-alarm.ts'
import { IdempotentSession } from './idempotent-session.ts'
import type { OutgoingBatch } from './outgoing-batch.ts'
import { PlainSession } from './plain-session.ts'
import { isTooLarge } from './producer-failure.ts'
import { ProducerIdentity } from './producer-identity.ts'
import { isNumbered, type ProducerOptions, produceSettings } from './producer-options.ts'
import type { ProducerSession } from './producer-session.ts'
import { ProgressSignal } from './progress-signal.ts'
import { Sender } from './sender.ts'
import { TransactionCalls } from './transaction-calls.ts'
import { TransactionManager } from './transaction-manager.ts'
import type { TransactionProgress } from './transaction-progress.ts'
import { type WrittenTotal, WrittenTotals } from './written-totals.ts'

/** An abort waits this long for Produce answers before it cuts the connections: a broker answers or has died by then. */
const ABORT_PATIENCE_MS = 2_000

/**
 * Writes records to partitions, and offsets with them, in transactions, or idempotently, or plainly. Kafka:
 * `KafkaProducer`, `StreamsProducer`.
 */
export class Producer {
  readonly #options: ProducerOptions
  readonly #calls: TransactionCalls
  readonly #identity: ProducerIdentity
  readonly #session: ProducerSession
  readonly #transactions: TransactionManager | undefined
  readonly #accumulator: Accumulator
  readonly #sender: Sender
  readonly #signal: ProgressSignal
  readonly #lingerAlarm: EarliestAlarm
  #failure: MillraceError | undefined
  readonly #written = new WrittenTotals()
  #closed = false
  readonly #wake = (): void => {
    this.#advance()
  }
  readonly #fail = (error: MillraceError): void => {
    this.#failure ??= error
    this.#sender.stop()
    this.#signal.notify()
  }

  constructor(options: ProducerOptions) {
    this.#options = options
    const { cluster, clock, logger, transactionalId, transactionTimeoutMs, requestTimeoutMs } = options
    this.#signal = new ProgressSignal(clock)
    this.#calls = new TransactionCalls(cluster, clock, requestTimeoutMs)
    this.#lingerAlarm = new EarliestAlarm(clock, this.#wake)
    this.#identity = new ProducerIdentity({
      calls: this.#calls,
      cluster,
      logger,
      transactionalId,
      transactionTimeoutMs,
      onChanged: () => {
        this.#sender.restartSequences()
      },
    })
    this.#transactions = transactionalId === undefined ? undefined : this.#newTransactions(transactionalId)
    this.#session =
      this.#transactions ?? (options.idempotent ? new IdempotentSession(this.#identity) : new PlainSession())
    this.#sender = this.#newSender()
    this.#accumulator = new Accumulator({
      batchSizeBytes: options.batchSizeBytes,
      bufferMemoryBytes: options.bufferMemoryBytes,
      compression: options.compression,
      lingerMs: options.lingerMs,
      deliveryTimeoutMs: options.deliveryTimeoutMs,
      laneOf: (topic, partition) => this.#sender.openLane(topic, partition),
      onPending: lane => {
        this.#sender.activate(lane)
      },
      onExpected: (lane, nowMs) => {
        this.#session.expects(lane, nowMs)
      },
    })
  }

  /**
   * Gets a producer id; with a transactional id becomes its owner, which fences an older one and aborts what it left open.
   *
   * @throws MillraceError
   */
  async initialize(): Promise<void> {
    await this.#session.initialize(this.#calls.deadline(this.#options.maxBlockMs))
    this.#sender.resume()
    this.#failure = undefined
  }

  /** Tells how large a batch of a topic may be, before its first record: `max.message.bytes`, with the header. Told again it can only become smaller. */
  register(topic: string, limits: { readonly maxMessageBytes: number }): void {
    this.#accumulator.register(topic, limits.maxMessageBytes)
  }

  /** Where records are appended; they are sent later. */
  get records(): RecordAppender {
    return this.#accumulator
  }

  /** Whether `buffer.memory` is used up: the caller waits for `whenBufferFree` before it appends more. */
  get bufferFull(): boolean {
    return this.#accumulator.isFull
  }

  /**
   * Resolves once there is room again.
   *
   * @throws MillraceError the failure of the producer, or `REQUEST_TIMED_OUT` after `max.block.ms`
   */
  async whenBufferFree(): Promise<void> {
    const deadline = this.#calls.deadline(this.#options.maxBlockMs)
    this.pump()
    while (this.#accumulator.isFull) {
      this.#throwFailure()
      await this.#signal.nextUntil(deadline, 'The brokers acknowledged too little to make room in buffer.memory')
    }
  }

  /** Sends what is full or has waited for `linger.ms`. Call it after each chunk of records, never within one. */
  pump(): void {
    assert(!this.#accumulator.inRecord, 'nothing is sent from within a record')
    this.#advance()
  }

  /** What went wrong in the background; the next `flush` throws it too. Nothing more is sent until `abortTransaction`. */
  get failure(): MillraceError | undefined {
    return this.#failure
  }

  /**
   * Sends everything and waits until all of it is acknowledged.
   *
   * @throws MillraceError the failure of the producer, or `REQUEST_TIMED_OUT`
   */
  async flush(timeoutMs: number): Promise<void> {
    const deadline = this.#calls.deadline(timeoutMs)
    this.#throwFailure()
    this.#accumulator.close(this.#options.clock.nowMs(), true)
    this.#sender.drain()
    while (!this.#sender.idle) {
      this.#throwFailure()
      await this.#signal.nextUntil(deadline, 'The brokers did not acknowledge all batches')
    }
    this.#throwFailure()
    if (this.#written.pendingBatches > 0) crashPoint('produce:allAnswered')
    // Without transactions an acknowledgement is the end.
    if (this.#transactions === undefined) this.#countAsWritten()
  }

  /** What was written for good since the start, by topic: committed, or acknowledged without transactions. */
  get totals(): ReadonlyMap<string, WrittenTotal> {
    return this.#written.byTopic
  }

  /** What the open transaction has come to; read it after each chunk. */
  get transaction(): TransactionProgress {
    const { records, bytes } = this.#accumulator
    const { state } = this.#session
    return {
      state,
      openedAtMs: this.#transactions?.openedAtMs,
      records,
      bytes,
      ongoing: records > 0 || (state !== 'idle' && state !== 'uninitialized' && state !== 'fenced'),
    }
  }

  /**
   * Puts offsets into the transaction, on behalf of a generation (KIP-447), after every batch was acknowledged.
   *
   * @returns `illegalGeneration` when the group has another generation by now: call again with the new one, in the same
   *   transaction
   * @throws MillraceError after looking at every partition's answer
   */
  async sendOffsets(
    groupId: string,
    member: GroupMembership,
    offsets: TopicPartitionMap<OffsetAndMetadata>,
    timeoutMs: number,
  ): Promise<'done' | 'illegalGeneration'> {
    this.#throwFailure()
    // Beside a first Produce the broker's check of the transaction fails in most cases (19 and 14).
    assert(this.#sender.idle, 'offsets follow the acknowledgements')
    return this.#inTransactions('sendOffsets').sendOffsets(groupId, member, offsets, this.#calls.deadline(timeoutMs))
  }

  /**
   * Commits the transaction; nothing is sent when there is none.
   *
   * @returns `committed` only on the broker's word; `unknown` when the outcome was not learnt: call `refence`, then read
   *   the offsets back
   * @throws MillraceError when the broker refused: it is not committed, call `abortTransaction`
   */
  async commitTransaction(timeoutMs: number): Promise<'committed' | 'unknown'> {
    this.#throwFailure()
    assert(this.#sender.idle && !this.#accumulator.holdsRecords, 'F19 nothing is in flight when a transaction ends')
    const outcome = await this.#inTransactions('commitTransaction').commit(this.#calls.deadline(timeoutMs))
    if (outcome === 'committed') this.#countAsWritten()
    else this.#restartCounters()
    return outcome
  }

  /**
   * Drops what was not sent, waits for what was, and aborts the transaction; afterwards another one may begin. Without
   * transactions: drops what is not acknowledged. After an error call it again.
   *
   * @throws MillraceError `PRODUCER_FENCED` when another process owns the transactional id, or what kept it from aborting
   */
  async abortTransaction(timeoutMs: number): Promise<void> {
    const deadline = this.#calls.deadline(timeoutMs)
    await this.#settle(timeoutMs, gap => this.#session.abort(deadline, gap))
  }

  /**
   * Raises the epoch of our own transactional id: what is open is aborted, what is late is refused.
   *
   * @returns `fenced` when another process owns the id
   * @throws MillraceError
   */
  async refence(timeoutMs: number): Promise<'ours' | 'fenced'> {
    const deadline = this.#calls.deadline(timeoutMs)
    const transactions = this.#inTransactions('refence')
    return this.#settle(timeoutMs, () => transactions.refence(deadline))
  }

  /**
   * Who is asked whether this process still has its place in the group, where the broker itself cannot tell a fenced
   * producer from one whose transaction timed out (transaction.version 0).
   */
  setAskGroup(ask: () => Promise<'ours' | 'replaced'>): void {
    this.#identity.setAskGroup(ask)
  }

  /** Aborts what is open, as far as that goes within the time, and sends nothing more. The connections are the cluster's. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      if (['open', 'aborting'].includes(this.#session.state)) await this.abortTransaction(timeoutMs)
    } catch (error) {
      const { logger, transactionalId } = this.#options
      logger.warn({ transactionalId, err: asMillraceError(error) }, 'a transaction is left to the broker to abort')
    }
    this.#sender.close()
    this.#lingerAlarm.cancel()
    this.#signal.notify()
  }

  /** Brings the sender to rest, forgets what it holds, then lets `end` deal with the transaction. */
  async #settle<T>(timeoutMs: number, end: (gap: boolean) => Promise<T>): Promise<T> {
    this.#sender.stop()
    this.#accumulator.discard()
    const answered = await this.#sender.quiesce(Math.min(ABORT_PATIENCE_MS, timeoutMs / 2))
    if (!answered) this.#session.noteUnsure()
    const gap = this.#sender.discard(batch => {
      this.#accumulator.release(batch)
    })
    this.#restartCounters()
    this.#failure = undefined
    try {
      const result = await end(gap)
      if (!this.#closed) this.#sender.resume()
      return result
    } catch (error) {
      // Neither old nor new: whatever is tried next but another attempt at this must hear of it.
      this.#failure = asMillraceError(error)
      throw error
    } finally {
      this.#signal.notify()
    }
  }

  /** As `pump`, from timers and answers: those come between records only. */
  #advance(): void {
    if (this.#failure !== undefined || this.#closed || this.#accumulator.inRecord) return
    const nowMs = this.#options.clock.nowMs()
    const dueMs = this.#accumulator.close(nowMs, this.#accumulator.isFull)
    if (dueMs >= 0) this.#lingerAlarm.wakeAt(nowMs + dueMs)
    this.#sender.drain()
  }

  #restartCounters(): void {
    this.#accumulator.resetCounters()
    this.#written.forget()
  }

  #countAsWritten(): void {
    this.#written.settle()
    this.#restartCounters()
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#closed) throw new MillraceError('NOT_RUNNING', { what: 'The producer is closed.' })
  }

  #inTransactions(call: string): TransactionManager {
    if (this.#transactions !== undefined) return this.#transactions
    throw new MillraceError('USAGE', { what: `${call} needs a producer with a transactional id.` })
  }

  #newTransactions(transactionalId: string): TransactionManager {
    const { cluster, clock, deliveryTimeoutMs } = this.#options
    return new TransactionManager({
      calls: this.#calls,
      cluster,
      clock,
      identity: this.#identity,
      transactionalId,
      callTimeoutMs: deliveryTimeoutMs,
      onFailed: this.#fail,
      onAdmitted: this.#wake,
    })
  }

  #newSender(): Sender {
    const { cluster, clock, logger, requestTimeoutMs } = this.#options
    const isIdempotent = isNumbered(this.#options)
    return new Sender({
      cluster,
      clock,
      logger,
      settings: produceSettings(this.#options),
      idempotent: isIdempotent,
      // Without sequences a batch that comes back would be overtaken by the next (I8).
      maxInFlightPerPartition: isIdempotent ? this.#options.maxInFlightPerPartition : 1,
      requestTimeoutMs,
      gate: this.#session,
      signal: this.#signal,
      listener: {
        acknowledged: (lane, batch) => {
          this.#accumulator.release(batch)
          this.#written.acknowledged(lane.topic, batch.sealed.count, batch.bufferedBytes)
          if (this.#written.pendingBatches === 1) crashPoint('produce:firstAnswered')
        },
        dropped: (lane, batch, cause) => {
          this.#accumulator.release(batch)
          this.#learnLimit(lane.topic, batch, cause.details.kafkaCode ?? 0)
          this.#options.onDropped?.(lane.topic, lane.partition, batch.sealed.count, cause)
        },
        unsure: () => {
          this.#session.noteUnsure()
        },
        failed: (error, batch, kafkaCode) => {
          this.#fail(this.#judgeFailure(error, batch, kafkaCode))
        },
        progressed: this.#wake,
      },
    })
  }

  #judgeFailure(error: MillraceError, batch: OutgoingBatch | undefined, kafkaCode: number): MillraceError {
    this.#session.noteFailure(kafkaCode)
    if (batch === undefined || !this.#learnLimit(error.details.topic, batch, kafkaCode)) return error
    return new MillraceError(error.code, { ...error.details, reaction: 'abort' })
  }

  /** Whether the batch was too large: what was refused is not sent like that again. */
  #learnLimit(topic: string | undefined, batch: OutgoingBatch, kafkaCode: number): boolean {
    if (topic === undefined || !isTooLarge(kafkaCode)) return false
    this.#accumulator.refused(topic, batch.sealed.count, batch.bufferedBytes)
    return true
  }
}
