import { assert } from '../../model/assert.ts'
import { MillraceError } from '../../model/errors.ts'
import type { RecordHeaders } from '../../model/headers.ts'
import type { RawRecord } from '../../model/record-source.ts'
import type { CompressionType } from '../records/compression.ts'
import type { RecordBatchWriter } from '../records/record-batch-writer.ts'
import { BatchPool } from './batch-pool.ts'
import { type FillingBatch, OutgoingBatch } from './outgoing-batch.ts'
import { PartitionBuffer, type TopicLimits } from './partition-buffer.ts'
import type { PartitionLane } from './partition-lane.ts'

/** Broker default of `message.max.bytes`, for topics of which nothing else is known. */
export const MAX_MESSAGE_BYTES_DEFAULT = 1_048_588
/** A batch is never cut below this: it holds at least a header and a small record. */
const BATCH_BYTES_MIN = 1_024

/** Settings of `Accumulator`; see `ProducerOptions`. */
export interface AccumulatorOptions {
  readonly batchSizeBytes: number
  readonly bufferMemoryBytes: number
  readonly compression: CompressionType
  readonly lingerMs: number
  readonly deliveryTimeoutMs: number
  /** The way to the leader, made when a partition is first written. */
  readonly laneOf: (topic: string, partition: number) => PartitionLane
  /** A lane got a closed batch. */
  readonly onPending: (lane: PartitionLane) => void
  /** A lane will get a batch that still waits for `linger.ms`. */
  readonly onExpected: (lane: PartitionLane, nowMs: number) => void
}

/** What is being written to a topic; asked for once per topic, so that no name is looked up per record. */
export interface TopicBuffers {
  readonly topic: string
  readonly limits: TopicLimits
  readonly partitions: PartitionBuffer[]
}

/** The side of an accumulator that records are written to. */
export type RecordAppender = Pick<
  Accumulator,
  'topic' | 'beginRecord' | 'endRecord' | 'rollbackRecord' | 'append' | 'appendRaw'
>

/**
 * Records on their way into batches: one open batch per partition, savepoints around input records, a bound on memory.
 * Everything per record is synchronous and allocates nothing. Kafka: `RecordAccumulator`.
 */
export class Accumulator {
  readonly #options: AccumulatorOptions
  readonly #pool: BatchPool
  readonly #topics = new Map<string, TopicBuffers>()
  readonly #active: PartitionBuffer[] = []
  /** Buffers written by the savepoint that is open; only the first `#touchedCount` count. */
  readonly #touched: PartitionBuffer[] = []
  #touchedCount = 0
  #savepoint = 0
  #lastSavepoint = 0
  #markRecords = 0
  #markBytes = 0
  #markBuffered = 0
  #records = 0
  #bytes = 0
  #bufferedBytes = 0
  readonly #dropFilling = (batch: FillingBatch): void => {
    this.#pool.give(batch)
  }

  constructor(options: AccumulatorOptions) {
    this.#options = options
    this.#pool = new BatchPool(options.bufferMemoryBytes)
  }

  /** Records appended since `resetCounters`. */
  get records(): number {
    return this.#records
  }

  /** Bytes of those before compression. */
  get bytes(): number {
    return this.#bytes
  }

  /** Appended bytes, before compression, that were not released. */
  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  /** Whether `buffer.memory` is used up. */
  get isFull(): boolean {
    return this.#bufferedBytes >= this.#options.bufferMemoryBytes
  }

  /** Whether records wait to be closed. */
  get holdsRecords(): boolean {
    return this.#active.some(({ open, full }) => full.length > 0 || (open?.writer.count ?? 0) > 0)
  }

  /** Whether a savepoint is open. */
  get inRecord(): boolean {
    return this.#savepoint !== 0
  }

  /** Tells the bound of a topic's batches, before its first record; told again it can only become smaller. */
  register(topic: string, maxMessageBytes: number): void {
    const known = this.#topics.get(topic)
    if (known === undefined) this.#addTopic(topic, maxMessageBytes)
    else this.#lower(known.limits, this.#usableBytes(maxMessageBytes))
  }

  /** The buffers of a topic. */
  topic(topic: string): TopicBuffers {
    return this.#topics.get(topic) ?? this.#addTopic(topic, MAX_MESSAGE_BYTES_DEFAULT)
  }

  /** Opens a savepoint around one input record: nothing appended from here on is sent before `endRecord`. */
  beginRecord(): void {
    assert(this.#savepoint === 0, 'one savepoint at a time')
    this.#lastSavepoint += 1
    this.#savepoint = this.#lastSavepoint
  }

  /**
   * Keeps what was appended since `beginRecord`.
   *
   * @returns whether anything was
   */
  endRecord(): boolean {
    assert(this.#savepoint !== 0, 'a savepoint is open')
    const wrote = this.#touchedCount > 0
    this.#touchedCount = 0
    this.#savepoint = 0
    return wrote
  }

  /** Removes what was appended since `beginRecord`. */
  rollbackRecord(): void {
    assert(this.#savepoint !== 0, 'a savepoint is open')
    if (this.#touchedCount > 0) {
      for (let i = 0; i < this.#touchedCount; i += 1) this.#touched[i]?.rollback(this.#dropFilling)
      this.#records = this.#markRecords
      this.#bytes = this.#markBytes
      this.#bufferedBytes = this.#markBuffered
    }
    this.#touchedCount = 0
    this.#savepoint = 0
  }

  /**
   * Appends one record.
   *
   * @throws MillraceError `RECORD_TOO_LARGE` when it does not fit into its topic
   */
  append(
    topic: TopicBuffers,
    partition: number,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    const buffer = topic.partitions[partition] ?? this.#addPartition(topic, partition)
    if (buffer.markedBy !== this.#savepoint) this.#mark(buffer)
    const open = buffer.open ?? this.#begin(buffer)
    const before = open.writer.bytes
    let appended = false
    try {
      appended = open.writer.append(key, value, timestamp, headers)
    } catch (error) {
      if (!isRecordTooLarge(error)) throw error
      this.#appendAlone(buffer, key, value, timestamp, headers)
      return
    }
    if (appended) {
      this.#count(open.writer.bytes - before)
      return
    }
    // Full: the next one is empty, so that it either takes the record or throws.
    this.#fill(buffer, open)
    this.append(topic, partition, key, value, timestamp, headers)
  }

  /** As `append`, of a record as it lies in another batch. */
  appendRaw(topic: TopicBuffers, partition: number, raw: RawRecord, timestamp: number): void {
    const buffer = topic.partitions[partition] ?? this.#addPartition(topic, partition)
    if (buffer.markedBy !== this.#savepoint) this.#mark(buffer)
    const open = buffer.open ?? this.#begin(buffer)
    const before = open.writer.bytes
    let appended = false
    try {
      appended = open.writer.appendRaw(raw, timestamp)
    } catch (error) {
      if (!isRecordTooLarge(error)) throw error
      this.#appendRawAlone(buffer, raw, timestamp)
      return
    }
    if (appended) {
      this.#count(open.writer.bytes - before)
      return
    }
    this.#fill(buffer, open)
    this.appendRaw(topic, partition, raw, timestamp)
  }

  /**
   * Closes what is due, or everything, and gives it to the lanes.
   *
   * @returns milliseconds until the next batch is due by `linger.ms`; −1 when none waits for it
   */
  close(nowMs: number, everything: boolean): number {
    assert(this.#savepoint === 0, 'batches are closed between records only')
    let nextDueMs = -1
    for (let i = this.#active.length - 1; i >= 0; i -= 1) {
      const buffer = this.#active[i]
      if (buffer === undefined) continue
      const dueMs = this.#closeBuffer(buffer, nowMs, everything)
      if (dueMs >= 0 && (nextDueMs < 0 || dueMs < nextDueMs)) nextDueMs = dueMs
      if (buffer.open === undefined) this.#deactivate(i)
    }
    return nextDueMs
  }

  /** A batch is done with: its memory is free again. */
  release(batch: OutgoingBatch): void {
    this.#bufferedBytes -= batch.bufferedBytes
    this.#pool.give(batch.source)
  }

  /** Forgets everything that is not closed. */
  discard(): void {
    if (this.#savepoint !== 0) this.rollbackRecord()
    for (const buffer of this.#active) {
      buffer.active = false
      for (const batch of buffer.full) this.#drop(batch)
      buffer.full.length = 0
      if (buffer.open !== undefined) this.#drop(buffer.open)
      buffer.open = undefined
    }
    this.#active.length = 0
  }

  /** Begins to count anew, at the end of a transaction. */
  resetCounters(): void {
    this.#records = 0
    this.#bytes = 0
  }

  /**
   * The broker refused a batch as too large. Many records are cut into smaller batches from now on; a single one is
   * refused when it is appended again, where its source record is known and has a policy.
   */
  refused(topic: string, records: number, batchBytes: number): void {
    const { limits } = this.topic(topic)
    if (records > 1) limits.batchBytes = Math.max(BATCH_BYTES_MIN, limits.batchBytes >>> 1)
    else this.#lower(limits, batchBytes - 1)
  }

  #lower(limits: TopicLimits, bytes: number): void {
    limits.maxMessageBytes = Math.min(limits.maxMessageBytes, bytes)
    limits.batchBytes = Math.min(limits.batchBytes, bytes)
  }

  #count(bytes: number): void {
    this.#records += 1
    this.#bytes += bytes
    this.#bufferedBytes += bytes
  }

  /** The first record of a savepoint in a partition; the first of all notes the counters, too. */
  #mark(buffer: PartitionBuffer): void {
    if (this.#savepoint === 0) return
    if (this.#touchedCount === 0) {
      this.#markRecords = this.#records
      this.#markBytes = this.#bytes
      this.#markBuffered = this.#bufferedBytes
    }
    buffer.mark(this.#savepoint)
    this.#touched[this.#touchedCount] = buffer
    this.#touchedCount += 1
  }

  #begin(buffer: PartitionBuffer): FillingBatch {
    const batch = this.#pool.take(buffer.limits.batchBytes)
    buffer.open = batch
    this.#bufferedBytes += batch.writer.bytes
    if (!buffer.active) {
      buffer.active = true
      this.#active.push(buffer)
    }
    return batch
  }

  #fill(buffer: PartitionBuffer, open: FillingBatch): void {
    buffer.full.push(open)
    buffer.open = undefined
  }

  /** A record larger than `batch.size` travels in a batch of its own, up to what the topic takes. */
  #appendAlone(
    buffer: PartitionBuffer,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    this.#fillAlone(buffer, writer => writer.append(key, value, timestamp, headers))
  }

  #appendRawAlone(buffer: PartitionBuffer, raw: RawRecord, timestamp: number): void {
    this.#fillAlone(buffer, writer => writer.appendRaw(raw, timestamp))
  }

  #fillAlone(buffer: PartitionBuffer, append: (writer: RecordBatchWriter) => boolean): void {
    const { lane, limits } = buffer
    const batch = this.#pool.take(limits.maxMessageBytes)
    try {
      append(batch.writer)
    } catch (cause) {
      this.#pool.give(batch)
      if (!(cause instanceof MillraceError)) throw cause
      throw new MillraceError(cause.code, {
        ...cause.details,
        what: `A record does not fit into the topic ${lane.topic}, whose max.message.bytes is the limit: ${cause.details.what ?? cause.message}`,
        topic: lane.topic,
        partition: lane.partition,
      })
    }
    if (buffer.open !== undefined) this.#fill(buffer, buffer.open)
    buffer.full.push(batch)
    this.#count(batch.writer.bytes)
  }

  #closeBuffer(buffer: PartitionBuffer, nowMs: number, everything: boolean): number {
    for (const batch of buffer.full) this.#seal(buffer, batch, nowMs)
    buffer.full.length = 0
    const { open } = buffer
    if (open === undefined) return -1
    if (open.lingerFromMs < 0) open.lingerFromMs = nowMs
    const dueMs = open.lingerFromMs + this.#options.lingerMs - nowMs
    // A due batch that is not full also waits for the ones before it: meanwhile it may fill, which costs no time.
    if (!everything && (dueMs > 0 || !buffer.lane.idle)) {
      if (open.writer.count > 0) this.#options.onExpected(buffer.lane, nowMs)
      return dueMs > 0 ? dueMs : -1
    }
    buffer.open = undefined
    this.#seal(buffer, open, nowMs)
    return -1
  }

  #seal(buffer: PartitionBuffer, batch: FillingBatch, nowMs: number): void {
    const { writer } = batch
    if (writer.count === 0) {
      this.#drop(batch)
      return
    }
    const bufferedBytes = writer.bytes
    const sealed = writer.seal(this.#options.compression)
    const deadlineMs = nowMs + this.#options.deliveryTimeoutMs
    buffer.lane.pending.push(new OutgoingBatch(batch, sealed, bufferedBytes, deadlineMs))
    this.#options.onPending(buffer.lane)
  }

  #drop(batch: FillingBatch): void {
    this.#bufferedBytes -= batch.writer.bytes
    this.#pool.give(batch)
  }

  #deactivate(index: number): void {
    const last = this.#active.pop()
    const removed = index === this.#active.length ? last : this.#active[index]
    if (removed !== undefined) removed.active = false
    if (last !== undefined && last !== removed) this.#active[index] = last
  }

  #addTopic(topic: string, maxMessageBytes: number): TopicBuffers {
    const bytes = this.#usableBytes(maxMessageBytes)
    const limits = { maxMessageBytes: bytes, batchBytes: Math.min(this.#options.batchSizeBytes, bytes) }
    const buffers = { topic, limits, partitions: [] }
    this.#topics.set(topic, buffers)
    return buffers
  }

  /** The broker measures what it is sent, and a codec makes incompressible bytes a little longer. */
  #usableBytes(maxMessageBytes: number): number {
    const growth = this.#options.compression === 'none' ? 0 : Math.ceil(maxMessageBytes / 128) + 64
    return Math.max(BATCH_BYTES_MIN, maxMessageBytes - growth)
  }

  #addPartition(buffers: TopicBuffers, partition: number): PartitionBuffer {
    const buffer = new PartitionBuffer(this.#options.laneOf(buffers.topic, partition), buffers.limits)
    buffers.partitions[partition] = buffer
    return buffer
  }
}

function isRecordTooLarge(error: unknown): boolean {
  return error instanceof MillraceError && error.code === 'RECORD_TOO_LARGE'
}
