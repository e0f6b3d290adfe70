import { assert } from '../../model/assert.ts'
import { copyBytes } from '../../model/copy-bytes.ts'
import { MillraceError } from '../../model/errors.ts'
import { NO_HEADERS, type RecordHeaders } from '../../model/headers.ts'
import type { RawRecord } from '../../model/record-source.ts'
import { BATCH, COMPRESSION_CODES, type CompressionType, LENGTH_OVERHEAD, MAGIC } from './batch-layout.ts'
import { compress } from './compression.ts'
import { writeInt64 } from './int64.ts'
import { SealedBatch } from './sealed-batch.ts'
import {
  isTwoBytes,
  shortVarintBytes,
  varintBytes,
  varlongBytes,
  writeShortVarint,
  writeVarint,
  writeVarlong,
} from './varint.ts'

export { type BatchProducer, SealedBatch } from './sealed-batch.ts'

const COPY_WORDS_BYTES_MAX = 128

/**
 * Appends records straight into the bytes of a batch of format 2, without an object per record.
 * Kafka: `MemoryRecordsBuilder`.
 */
export class RecordBatchWriter {
  readonly #maxBytes: number
  #buffer: Buffer
  #view: DataView
  #position: number = BATCH.records
  #count = 0
  #baseTimestamp = 0
  #maxTimestamp = -1
  #isSealed = false

  /**
   * @param options - sizes in bytes of the whole batch before compression: what to start with, and the bound
   */
  constructor(options: { readonly initialBytes: number; readonly maxBytes: number }) {
    assert(options.maxBytes > BATCH.records, 'a batch has room for its header', { maxBytes: options.maxBytes })
    this.#maxBytes = options.maxBytes
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(options.initialBytes, BATCH.records))
    this.#view = viewOf(this.#buffer)
  }

  /** How many records there are. */
  get count(): number {
    return this.#count
  }

  /** Size so far, the 61 bytes of the header included, before compression. */
  get bytes(): number {
    return this.#position
  }

  /** Highest timestamp so far; −1 when there is none. */
  get maxTimestamp(): number {
    return this.#maxTimestamp
  }

  /** Timestamp of the first record; 0 when there is none. */
  get baseTimestamp(): number {
    return this.#count === 0 ? 0 : this.#baseTimestamp
  }

  /**
   * Appends a record. False when it does not fit behind the records that are there: open another batch for it.
   *
   * @param timestamp - milliseconds since 1970, or −1 for none
   * @throws RECORD_TOO_LARGE when it would not fit into an empty batch either; nothing is written then
   */
  append(key: Uint8Array | null, value: Uint8Array | null, timestamp: number, headers: RecordHeaders): boolean {
    assert(!this.#isSealed, 'a sealed batch takes no record')
    assert(Number.isSafeInteger(timestamp), 'a timestamp is an exact number of milliseconds')
    const count = this.#count
    const delta = count === 0 ? 0 : timestamp - this.#baseTimestamp
    if (isShort(key) && isShort(value) && headers === NO_HEADERS && isTwoBytes(delta) && isTwoBytes(count))
      return this.#appendShort(key, value, timestamp, delta)
    const keyBytes = key === null ? -1 : key.length
    const valueBytes = value === null ? -1 : value.length
    const body =
      1 +
      varlongBytes(delta) +
      varintBytes(count) +
      varintBytes(keyBytes) +
      (keyBytes > 0 ? keyBytes : 0) +
      varintBytes(valueBytes) +
      (valueBytes > 0 ? valueBytes : 0) +
      (headers === NO_HEADERS ? 1 : headersBytes(headers))
    const start = this.#position
    const end = start + varintBytes(body) + body
    if (end > this.#maxBytes) return this.#refuse(body, delta)
    if (end > this.#buffer.length) this.#grow(end)

    const buffer = this.#buffer
    let at = writeVarint(buffer, start, body)
    // Attributes of a record: none are in use.
    buffer[at] = 0
    at = writeVarlong(buffer, at + 1, delta)
    at = writeVarint(buffer, at, count)
    at = writeBytes(buffer, at, key)
    at = writeBytes(buffer, at, value)
    if (headers === NO_HEADERS) {
      buffer[at] = 0
      at += 1
    } else {
      at = writeHeaders(buffer, at, headers)
    }
    assert(at === end, 'a record has the size that was computed')
    this.#appended(end, timestamp)
    return true
  }

  /** As `append`, with key, value and headers of a record as another batch holds it: one copy, and no object. */
  appendRaw(raw: RawRecord, timestamp: number): boolean {
    assert(!this.#isSealed, 'a sealed batch takes no record')
    const count = this.#count
    const delta = count === 0 ? 0 : timestamp - this.#baseTimestamp
    const { bodyAt } = raw
    const copied = raw.bodyEnd - bodyAt
    const body = 1 + varlongBytes(delta) + varintBytes(count) + copied
    const start = this.#position
    const end = start + varintBytes(body) + body
    if (end > this.#maxBytes) return this.#refuse(body, delta)
    if (end > this.#buffer.length) this.#grow(end)

    const buffer = this.#buffer
    let at = writeVarint(buffer, start, body)
    buffer[at] = 0
    at = writeVarlong(buffer, at + 1, delta)
    at = writeVarint(buffer, at, count)
    if (copied > COPY_WORDS_BYTES_MAX) raw.batch.copy(buffer, at, bodyAt, bodyAt + copied)
    else copyWords(raw.batchView, bodyAt, this.#view, at, copied)
    assert(at + copied === end, 'a record has the size that was computed')
    this.#appended(end, timestamp)
    return true
  }

  /** Takes back what was appended since; the arguments are `count`, `bytes` and `maxTimestamp` of that moment. */
  truncate(count: number, bytes: number, maxTimestamp: number): void {
    assert(!this.#isSealed, 'a sealed batch stays as it is')
    assert(count <= this.#count && bytes <= this.#position, 'a savepoint lies in the past', { count, bytes })
    this.#count = count
    this.#position = bytes
    this.#maxTimestamp = maxTimestamp
  }

  /** Closes the batch: compresses its records and writes the header but for what `SealedBatch.stamp` writes. */
  seal(codec: CompressionType): SealedBatch {
    assert(!this.#isSealed && this.#count > 0, 'a batch is sealed once, with records', { count: this.#count })
    this.#isSealed = true
    // The writer's own buffer is sent, so it is not reused before the answer.
    const bytes = codec === 'none' ? this.#buffer.subarray(0, this.#position) : this.#compressed(codec)
    writeInt64(bytes, BATCH.baseOffset, 0)
    bytes.writeInt32BE(bytes.length - LENGTH_OVERHEAD, BATCH.length)
    bytes.writeInt32BE(-1, BATCH.partitionLeaderEpoch)
    bytes.writeInt8(MAGIC, BATCH.magic)
    bytes.writeInt16BE(COMPRESSION_CODES.indexOf(codec), BATCH.attributes)
    bytes.writeInt32BE(this.#count - 1, BATCH.lastOffsetDelta)
    writeInt64(bytes, BATCH.baseTimestamp, this.#baseTimestamp)
    writeInt64(bytes, BATCH.maxTimestamp, this.#maxTimestamp)
    bytes.writeInt32BE(this.#count, BATCH.count)
    return new SealedBatch(this.#count, bytes)
  }

  /** Empties the writer for the next batch, keeping its buffer; what was sealed from it must not be in use any more. */
  reset(): void {
    this.#position = BATCH.records
    this.#count = 0
    this.#maxTimestamp = -1
    this.#isSealed = false
  }

  /** Compressed records lie where they lay before, unless they have become longer than what there is. */
  #compressed(codec: CompressionType): Buffer {
    const compressed = compress(codec, this.#buffer.subarray(BATCH.records, this.#position))
    const end = BATCH.records + compressed.length
    if (end > this.#buffer.length) return Buffer.concat([this.#buffer.subarray(0, BATCH.records), compressed])
    compressed.copy(this.#buffer, BATCH.records)
    return this.#buffer.subarray(0, end)
  }

  /** A record all of whose lengths and numbers take a byte or two, as most do: half the time of any other. */
  #appendShort(key: Uint8Array, value: Uint8Array, timestamp: number, delta: number): boolean {
    const count = this.#count
    const keyBytes = key.length
    const valueBytes = value.length
    // Attributes and number of headers are the other two.
    const body =
      2 +
      shortVarintBytes(delta) +
      shortVarintBytes(count) +
      shortVarintBytes(keyBytes) +
      keyBytes +
      shortVarintBytes(valueBytes) +
      valueBytes
    const start = this.#position
    const end = start + varintBytes(body) + body
    if (end > this.#maxBytes) return this.#refuse(body, delta)
    if (end > this.#buffer.length) this.#grow(end)

    const buffer = this.#buffer
    let at = writeVarint(buffer, start, body)
    buffer[at] = 0
    at = writeShortVarint(buffer, at + 1, delta)
    at = writeShortVarint(buffer, at, count)
    at = writeShort(buffer, at, key)
    at = writeShort(buffer, at, value)
    buffer[at] = 0
    assert(at + 1 === end, 'a record has the size that was computed')
    this.#appended(end, timestamp)
    return true
  }

  #appended(end: number, timestamp: number): void {
    if (this.#count === 0) this.#baseTimestamp = timestamp
    if (timestamp > this.#maxTimestamp) this.#maxTimestamp = timestamp
    this.#position = end
    this.#count += 1
  }

  /** In an empty batch both deltas are zero and take one byte each. */
  #refuse(body: number, delta: number): false {
    const alone = body - varlongBytes(delta) - varintBytes(this.#count) + 2
    const bytes = BATCH.records + varintBytes(alone) + alone
    if (bytes <= this.#maxBytes) return false
    throw new MillraceError('RECORD_TOO_LARGE', {
      what: `A record takes ${String(bytes)} bytes as a batch of its own; ${String(this.#maxBytes)} are allowed.`,
    })
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#maxBytes, Math.max(needed, this.#buffer.length * 2)))
    this.#buffer.copy(larger, 0, 0, this.#position)
    this.#buffer = larger
    this.#view = viewOf(larger)
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
}

/** Copies a few bytes between two buffers, four at a time: faster than a call into the runtime, and without an object. */
function copyWords(from: DataView, start: number, to: DataView, target: number, length: number): void {
  const words = length & ~3
  for (let at = 0; at < words; at += 4) to.setInt32(target + at, from.getInt32(start + at, true), true)
  for (let at = words; at < length; at += 1) to.setUint8(target + at, from.getUint8(start + at))
}

function writeBytes(buffer: Buffer, at: number, bytes: Uint8Array | null): number {
  if (bytes === null) return writeVarint(buffer, at, -1)
  const length = bytes.length
  const start = writeVarint(buffer, at, length)
  copyBytes(bytes, buffer, start)
  return start + length
}

/** Whether the length of these bytes takes two bytes at most. */
function isShort(bytes: Uint8Array | null): bytes is Uint8Array {
  return bytes !== null && isTwoBytes(bytes.length)
}

/** Bytes that are short. */
function writeShort(buffer: Buffer, at: number, bytes: Uint8Array): number {
  const { length } = bytes
  const start = writeShortVarint(buffer, at, length)
  copyBytes(bytes, buffer, start)
  return start + length
}

function headersBytes(headers: RecordHeaders): number {
  let bytes = varintBytes(headers.size)
  for (const [name, value] of headers) {
    const nameBytes = Buffer.byteLength(name)
    const valueBytes = value === null ? -1 : value.length
    bytes += varintBytes(nameBytes) + nameBytes + varintBytes(valueBytes) + Math.max(valueBytes, 0)
  }
  return bytes
}

function writeHeaders(buffer: Buffer, start: number, headers: RecordHeaders): number {
  let at = writeVarint(buffer, start, headers.size)
  for (const [name, value] of headers) {
    at = writeVarint(buffer, at, Buffer.byteLength(name))
    at += buffer.write(name, at, 'utf8')
    at = writeBytes(buffer, at, value)
  }
  return at
}
