import { headersOf, NO_HEADERS, type RecordHeader, type RecordHeaders } from '../../model/headers.ts'
import type { RawRecord, RecordSource } from '../../model/record-source.ts'
import type { UpcomingKeys } from '../../model/upcoming-keys.ts'
import { AbortFilter, type AbortedTransaction } from './abort-filter.ts'
import { BatchReader } from './batch-reader.ts'
import { addFollowingKeys } from './following-keys.ts'
import { VarintReader } from './varint.ts'

/** Which records of transactions are seen. Kafka: `isolation.level`. */
export type IsolationLevel = 'read_committed' | 'read_uncommitted'

/** One partition's part of a Fetch response. */
export interface RecordBlock {
  readonly topic: string
  readonly partition: number
  /** The batches as they were sent; the last one may be cut off. */
  readonly records: Buffer
  /** The offset asked for: a compressed batch begins before it. */
  readonly position: number
  readonly aborted: readonly AbortedTransaction[]
  readonly isolation: IsolationLevel
  /** Told once at the block's end that its bytes are free again, unless somebody was given slices of them. */
  readonly loan?: { release(): void } | undefined
}

const NO_RECORDS = Buffer.alloc(0)
const NO_VIEW = new DataView(new ArrayBuffer(0))

/**
 * Walks the records of a fetched block in place: key and value are slices, made when they are asked for. Markers,
 * records of aborted transactions and gaps of compaction are passed over. Kafka: `CompletedFetch`.
 */
export class RecordCursor implements RecordSource, RawRecord {
  readonly #batch = new BatchReader()
  readonly #abortFilter = new AbortFilter()
  #isCommittedOnly = true
  #position = 0
  /** The current batch's records, decompressed, and how far they are read. */
  #records: Buffer = NO_RECORDS
  #view: DataView | undefined
  #at = 0
  #left = 0
  #baseOffset = 0
  #lastOffset = 0
  #baseTimestamp = 0
  /** The timestamp of every record of the batch where the broker sets it, else NaN. */
  #appendTimestamp = Number.NaN

  #offset = -1
  #timestamp = -1
  #keyAt = 0
  #keyBytes = -1
  #valueAt = 0
  #valueBytes = -1
  #bodyAt = 0
  #headersAt = 0
  #recordEnd = 0
  #sizedEnd = 0
  /** Slices of the current record once they were asked for. */
  #key: Buffer | null | undefined
  #value: Buffer | null | undefined
  /** Gone once somebody was given a slice of the block. */
  #loan: RecordBlock['loan']
  /** Whether slices of a record are slices of the block. */
  #isInBlock = true

  /** Begins another block; what the previous one gave is not valid any more. */
  reset(block: RecordBlock): void {
    this.#batch.reset(block.topic, block.partition, block.records)
    this.#abortFilter.reset(block.aborted)
    this.#isCommittedOnly = block.isolation === 'read_committed'
    this.#position = block.position
    this.#loan = block.loan
    this.#records = NO_RECORDS
    this.#at = 0
    this.#left = 0
  }

  get offset(): number {
    return this.#offset
  }

  get timestamp(): number {
    return this.#timestamp
  }

  get hasKey(): boolean {
    return this.#keyBytes >= 0
  }

  get hasValue(): boolean {
    return this.#valueBytes >= 0
  }

  get raw(): RawRecord {
    return this
  }

  get batch(): Buffer {
    return this.#records
  }

  get batchView(): DataView {
    return (this.#view ??= viewOf(this.#records))
  }

  get bodyAt(): number {
    return this.#bodyAt
  }

  get bodyEnd(): number {
    return this.#recordEnd
  }

  get keyAt(): number {
    return this.#keyAt
  }

  get keyBytes(): number {
    return this.#keyBytes
  }

  get valueAt(): number {
    return this.#valueAt
  }

  get valueBytes(): number {
    return this.#valueBytes
  }

  get key(): Buffer | null {
    if (this.#key === undefined) {
      this.#keep()
      this.#key = this.#keyBytes < 0 ? null : this.#records.subarray(this.#keyAt, this.#keyAt + this.#keyBytes)
    }
    return this.#key
  }

  get value(): Buffer | null {
    if (this.#value === undefined) {
      this.#keep()
      this.#value =
        this.#valueBytes < 0 ? null : this.#records.subarray(this.#valueAt, this.#valueAt + this.#valueBytes)
    }
    return this.#value
  }

  /** @throws PROTOCOL_VIOLATION for headers that cannot be read; they are decoded here, not by `next` */
  get headers(): RecordHeaders {
    return this.#records[this.#headersAt] === 0 ? NO_HEADERS : this.#readHeaders()
  }

  /** Leader epoch of the record's batch (KIP-320); −1 when the broker did not say. */
  get batchLeaderEpoch(): number {
    return this.#batch.leaderEpoch
  }

  get position(): number {
    return this.#position
  }

  /**
   * Moves to the next record that the isolation level shows.
   *
   * @throws PROTOCOL_VIOLATION naming topic, partition and offset, for bytes that are no records of Kafka's
   */
  next(): boolean {
    for (;;) {
      if (this.#left === 0) {
        if (!this.#nextBatch()) return false
        continue
      }
      this.#left -= 1
      this.#readRecord()
      if (this.#left === 0 && this.#at !== this.#records.length) this.#fail('bytes after the last record of a batch')
      // A batch is sent whole though only its later records were asked for.
      if (this.#offset < this.#position) continue
      this.#position = this.#offset + 1
      return true
    }
  }

  readUpcomingKeys(keys: UpcomingKeys): void {
    keys.begin(this.batchView)
    keys.add(this.#keyAt, this.#keyBytes)
    addFollowingKeys(this.#records, this.#at, this.#left, keys)
  }

  /** Moves to the next batch with records to show; false at the block's end. */
  #nextBatch(): boolean {
    const batch = this.#batch
    // Of a batch read to its end, compaction may have removed the last offsets.
    if (this.#records !== NO_RECORDS) this.#pass()
    this.#records = NO_RECORDS
    while (batch.next()) {
      if (batch.isControl) {
        if (batch.endsTransaction()) this.#abortFilter.ended(batch.producerId, batch.lastOffset)
      } else if (!this.#isLeftOut() && batch.count > 0) {
        this.#enter()
        return true
      }
      this.#pass()
    }
    this.#end()
    return false
  }

  #end(): void {
    this.#batch.end()
    this.#loan?.release()
    this.#loan = undefined
  }

  /** Somebody is given a slice, and may keep it. */
  #keep(): void {
    if (this.#isInBlock) this.#loan = undefined
  }

  #pass(): void {
    if (this.#batch.lastOffset >= this.#position) this.#position = this.#batch.lastOffset + 1
  }

  #isLeftOut(): boolean {
    const batch = this.#batch
    return (
      this.#isCommittedOnly && batch.isTransactional && this.#abortFilter.isAborted(batch.producerId, batch.lastOffset)
    )
  }

  #enter(): void {
    const batch = this.#batch
    this.#records = batch.records()
    this.#isInBlock = !batch.isCompressed
    this.#view = undefined
    this.#at = 0
    this.#left = batch.count
    this.#baseOffset = batch.baseOffset
    this.#lastOffset = batch.lastOffset
    // Failures before the first record is read name the batch.
    this.#offset = batch.baseOffset
    this.#baseTimestamp = batch.baseTimestamp
    this.#appendTimestamp = batch.isLogAppendTime ? batch.maxTimestamp : Number.NaN
  }

  /** Lengths are checked against the record's own, and its against the batch: no slice leaves the batch. */
  #readRecord(): void {
    const records = this.#records
    const length = this.#varint()
    const end = this.#at + length
    if (length < 0 || end > records.length) this.#fail('a record longer than its batch')
    // Attributes of a record: none are in use.
    this.#at += 1
    const timestamp = this.#baseTimestamp + this.#varlong()
    this.#offset = this.#baseOffset + this.#varint()
    this.#timestamp = Number.isNaN(this.#appendTimestamp) ? timestamp : this.#appendTimestamp
    this.#bodyAt = this.#at
    this.#keyBytes = this.#varint()
    this.#keyAt = this.#at
    if (this.#keyBytes > 0) this.#at += this.#keyBytes
    this.#valueBytes = this.#varint()
    this.#valueAt = this.#at
    if (this.#valueBytes > 0) this.#at += this.#valueBytes
    if (this.#at >= end || this.#keyBytes < -1 || this.#valueBytes < -1) this.#fail('a record whose parts do not fit')
    if (records[this.#at] === 0 && this.#at + 1 !== end) this.#fail('bytes after the headers of a record')
    if (this.#offset < this.#baseOffset || this.#offset > this.#lastOffset) this.#fail('an offset outside its batch')
    if (!Number.isSafeInteger(this.#timestamp)) this.#fail('a timestamp beyond 2^53 milliseconds')
    this.#headersAt = this.#at
    this.#recordEnd = end
    this.#at = end
    this.#key = undefined
    this.#value = undefined
  }

  /** A 32-bit zigzag varint; bytes beyond the buffer read as zero and are caught by the checks of lengths. */
  #varint(): number {
    const records = this.#records
    let at = this.#at
    let byte = records[at] ?? 0
    at += 1
    let value = byte & 0x7f
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (shift > 28) this.#fail('a varint of more than five bytes')
      byte = records[at] ?? 0
      at += 1
      value |= (byte & 0x7f) << shift
    }
    this.#at = at
    return (value >>> 1) ^ -(value & 1)
  }

  /** A 64-bit zigzag varint, exact up to ±(2^53−1). */
  #varlong(): number {
    const records = this.#records
    let at = this.#at
    let byte = records[at] ?? 0
    at += 1
    let value = byte & 0x7f
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (shift > 21) return this.#longVarlong()
      byte = records[at] ?? 0
      at += 1
      value |= (byte & 0x7f) << shift
    }
    this.#at = at
    return (value >>> 1) ^ -(value & 1)
  }

  #longVarlong(): number {
    const reader = new VarintReader(this.#records, this.#at)
    const value = reader.varlong()
    if (value === undefined) return this.#fail('a varint of more than ten bytes')
    this.#at = reader.position
    return value
  }

  #readHeaders(): RecordHeaders {
    this.#keep()
    const records = this.#records.subarray(0, this.#recordEnd)
    const reader = new VarintReader(records, this.#headersAt)
    const count = reader.varint() ?? -1
    // A header takes two bytes at least: nothing is allocated for a count that is a lie.
    if (count < 0 || count * 2 > records.length - reader.position) this.#fail('a record with a wrong count of headers')
    const list: RecordHeader[] = []
    let at = reader.position
    for (let index = 0; index < count; index += 1) {
      const name = this.#sized(records, at)
      if (name === null) return this.#fail('a header without a name')
      const value = this.#sized(records, this.#sizedEnd)
      at = this.#sizedEnd
      list.push([name.toString('utf8'), value])
    }
    if (at !== this.#recordEnd && count > 0) this.#fail('bytes after the last header of a record')
    return headersOf(list)
  }

  /** Bytes after their length; where they end is left in `#sizedEnd`. */
  #sized(records: Buffer, at: number): Buffer | null {
    const reader = new VarintReader(records, at)
    const bytes = reader.varint() ?? -2
    const end = reader.position + Math.max(bytes, 0)
    if (bytes < -1 || end > records.length) this.#fail('a header longer than its record')
    this.#sizedEnd = end
    return bytes < 0 ? null : records.subarray(reader.position, end)
  }

  #fail(what: string): never {
    return this.#batch.fail(what, this.#offset)
  }
}

function viewOf(records: Buffer): DataView {
  return records.length === 0 ? NO_VIEW : new DataView(records.buffer, records.byteOffset, records.length)
}
