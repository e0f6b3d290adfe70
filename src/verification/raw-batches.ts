import { gunzipSync } from 'node:zlib'
import { MillraceError } from '../model/errors.ts'
import { headersOf, NO_HEADERS, type RecordHeader, type RecordHeaders } from '../model/headers.ts'
import type { TopicPartition } from '../model/topic-partition.ts'
import { COMPRESSION_CODES } from '../kafka/records/batch-layout.ts'
import { decompress } from '../kafka/records/compression.ts'
import { crc32c } from '../kafka/records/crc32c.ts'

/** A record inside a batch. */
export interface RawRecord {
  readonly offset: number
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
}

/** A batch as it lies in the log. */
export interface RawBatch {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly isTransactional: boolean
  /** Whether the broker has stamped the records (`LogAppendTime`). */
  readonly isStampedByBroker: boolean
  /** What ends a transaction here; `undefined` for data. Other control records count as `other`. */
  readonly marker: 'commit' | 'abort' | 'other' | undefined
  readonly records: readonly RawRecord[]
}

/**
 * Decodes batches of format 2, written a second time on purpose: the checker must not see the log through the code that it
 * judges. Slow and plain; a batch that is cut off at the end is left for the next fetch.
 *
 * @throws MillraceError `PROTOCOL_VIOLATION` for anything that is no batch
 */
export function decodeBatches(bytes: Buffer, at: TopicPartition): readonly RawBatch[] {
  const batches: RawBatch[] = []
  let start = 0
  while (start + 61 <= bytes.length) {
    const end = start + 12 + bytes.readInt32BE(start + 8)
    if (end > bytes.length) break
    batches.push(decodeBatch(bytes.subarray(start, end), at))
    start = end
  }
  return batches
}

function decodeBatch(batch: Buffer, at: TopicPartition): RawBatch {
  const magic = batch.readInt8(16)
  if (magic !== 2) throw broken(at, `a batch of format ${String(magic)}`)
  if (crc32c(batch.subarray(21)) !== batch.readUInt32BE(17)) throw broken(at, 'a batch with a wrong checksum')
  const baseOffset = Number(batch.readBigInt64BE(0))
  const attributes = batch.readInt16BE(21)
  const hasAppendTime = (attributes & 8) !== 0
  const isControl = (attributes & 32) !== 0
  const count = batch.readInt32BE(57)
  const reader = new FieldReader(plainRecords(batch.subarray(61), attributes & 7), at)
  const records: RawRecord[] = []
  const appendTime = hasAppendTime ? batch.readBigInt64BE(35) : undefined
  for (let index = 0; index < count; index++) {
    records.push(reader.record(baseOffset, batch.readBigInt64BE(27), appendTime))
  }
  return {
    baseOffset,
    lastOffset: baseOffset + batch.readInt32BE(23),
    producerId: Number(batch.readBigInt64BE(43)),
    producerEpoch: batch.readInt16BE(51),
    isTransactional: (attributes & 16) !== 0,
    isStampedByBroker: hasAppendTime,
    marker: isControl ? markerOf(records[0]?.key ?? null) : undefined,
    records,
  }
}

function markerOf(key: Buffer | null): 'commit' | 'abort' | 'other' {
  if (key === null || key.length < 4) return 'other'
  const type = key.readInt16BE(2)
  return type === 0 ? 'abort' : type === 1 ? 'commit' : 'other'
}

function plainRecords(bytes: Buffer, code: number): Buffer {
  const codec = COMPRESSION_CODES[code]
  if (codec === undefined)
    throw new MillraceError('PROTOCOL_VIOLATION', { what: `Compression ${String(code)} is unknown.` })
  if (codec === 'gzip') return gunzipSync(bytes)
  return decompress(codec, bytes)
}

/** Reads the fields of records one after the other. */
class FieldReader {
  readonly #bytes: Buffer
  readonly #topicPartition: TopicPartition
  #at = 0

  constructor(bytes: Buffer, topicPartition: TopicPartition) {
    this.#bytes = bytes
    this.#topicPartition = topicPartition
  }

  /** @param appendTime - of the broker, where that counts */
  record(baseOffset: number, baseTimestamp: bigint, appendTime: bigint | undefined): RawRecord {
    const length = this.#int()
    const end = this.#at + length
    if (length < 0 || end > this.#bytes.length) throw broken(this.#topicPartition, 'a record longer than its batch')
    this.#at += 1
    const createTime = baseTimestamp + this.#zigzag()
    const timestamp = Number(appendTime ?? createTime)
    // Rounded, two times would pass for one. The engine refuses such a record as well.
    if (!Number.isSafeInteger(timestamp)) throw broken(this.#topicPartition, 'a time beyond 2^53 − 1')
    const offset = baseOffset + this.#int()
    const key = this.#sized()
    const value = this.#sized()
    const headers = this.#headers()
    if (this.#at !== end) throw broken(this.#topicPartition, 'a record whose length is wrong')
    return { offset, timestamp, key, value, headers }
  }

  #headers(): RecordHeaders {
    const count = this.#int()
    if (count === 0) return NO_HEADERS
    const list: RecordHeader[] = []
    for (let index = 0; index < count; index++) {
      const name = this.#sized()
      list.push([name?.toString('utf8') ?? '', this.#sized()])
    }
    return headersOf(list)
  }

  #sized(): Buffer | null {
    const length = this.#int()
    if (length < 0) return null
    const start = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw broken(this.#topicPartition, 'a field longer than its batch')
    return Buffer.from(this.#bytes.subarray(start, this.#at))
  }

  #int(): number {
    return Number(this.#zigzag())
  }

  #zigzag(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#at]
      if (byte === undefined || shift > 63n) throw broken(this.#topicPartition, 'a number that does not end')
      this.#at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return (value >> 1n) ^ -(value & 1n)
    }
  }
}

function broken(at: TopicPartition, what: string): MillraceError {
  return new MillraceError('PROTOCOL_VIOLATION', { ...at, what: `The log holds ${what}.` })
}
