import { MillraceError } from '../../model/errors.ts'
import { ATTRIBUTES, BATCH, COMPRESSION_CODES, LENGTH_OVERHEAD, MAGIC } from './batch-layout.ts'
import { decompress } from './compression.ts'
import { crc32c } from './crc32c.ts'
import { readInt64 } from './int64.ts'
import { VarintReader } from './varint.ts'

const NO_BLOCK = Buffer.alloc(0)

/** Reads a block of batches as a Fetch response holds it, one batch header at a time; the last one may be cut off. */
export class BatchReader {
  #block: Buffer = NO_BLOCK
  #topic = ''
  #partition = -1
  #at = 0
  #end = 0

  /** The fields of the current batch's header. */
  baseOffset = 0
  /** Base offset + last offset delta: stays when compaction removes records. */
  lastOffset = 0
  baseTimestamp = 0
  maxTimestamp = 0
  producerId = -1
  leaderEpoch = -1
  count = 0
  #attributes = 0

  reset(topic: string, partition: number, block: Buffer): void {
    this.#topic = topic
    this.#partition = partition
    this.#block = block
    this.#at = 0
    this.#end = 0
  }

  /** Lets go of the block: there is no next batch any more. */
  end(): void {
    this.#block = NO_BLOCK
    this.#end = 0
  }

  get isLogAppendTime(): boolean {
    return (this.#attributes & ATTRIBUTES.logAppendTime) !== 0
  }

  get isTransactional(): boolean {
    return (this.#attributes & ATTRIBUTES.transactional) !== 0
  }

  get isCompressed(): boolean {
    return (this.#attributes & ATTRIBUTES.compression) !== 0
  }

  get isControl(): boolean {
    return (this.#attributes & ATTRIBUTES.control) !== 0
  }

  /**
   * Moves to the next whole batch; false when there is none.
   *
   * @throws PROTOCOL_VIOLATION for a wrong checksum, an older format, or a header that cannot be
   */
  next(): boolean {
    const block = this.#block
    const at = this.#end
    if (block.length - at < BATCH.crc) return false
    this.baseOffset = this.#exactInt64(at + BATCH.baseOffset, 'base offset')
    const magic = block.readInt8(at + BATCH.magic)
    if (magic !== MAGIC) this.fail(`a batch of format ${String(magic)}; only format ${String(MAGIC)} is read`)
    const end = at + LENGTH_OVERHEAD + block.readInt32BE(at + BATCH.length)
    if (end < at + BATCH.records) this.fail('a batch shorter than its header')
    // A response is cut off at its byte limit; the rest comes with the next fetch.
    if (end > block.length) return false
    const crc = block.readUInt32BE(at + BATCH.crc)
    if (crc32c(block.subarray(at + BATCH.attributes, end)) !== crc) this.fail('a batch whose checksum does not match')

    this.#at = at
    this.#end = end
    this.#attributes = block.readInt16BE(at + BATCH.attributes)
    this.leaderEpoch = block.readInt32BE(at + BATCH.partitionLeaderEpoch)
    const lastOffsetDelta = block.readInt32BE(at + BATCH.lastOffsetDelta)
    this.baseTimestamp = readInt64(block, at + BATCH.baseTimestamp)
    this.maxTimestamp = readInt64(block, at + BATCH.maxTimestamp)
    this.producerId = readInt64(block, at + BATCH.producerId)
    this.count = block.readInt32BE(at + BATCH.count)
    if (lastOffsetDelta < 0 || this.count < 0) this.fail('a batch with a negative count')
    this.lastOffset = this.baseOffset + lastOffsetDelta
    return true
  }

  /** The bytes of the current batch's records: a slice of the block, or decompressed anew. */
  records(): Buffer {
    const bytes = this.#block.subarray(this.#at + BATCH.records, this.#end)
    const code = this.#attributes & ATTRIBUTES.compression
    if (code === 0) return bytes
    const codec = COMPRESSION_CODES[code]
    if (codec === undefined) return this.fail(`a batch of the unknown compression ${String(code)}`)
    try {
      return decompress(codec, bytes)
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error
      throw new MillraceError(error.code, { ...error.details, what: error.message, ...this.#place() })
    }
  }

  /** Whether the current control batch is the marker that ends a transaction, by commit or abort. */
  endsTransaction(): boolean {
    if (this.count === 0) return false
    const records = this.records()
    const reader = new VarintReader(records)
    reader.varint()
    // Of a control record only the key matters: a version and a type of two bytes each.
    const afterAttributes = new VarintReader(records, reader.position + 1)
    afterAttributes.varlong()
    afterAttributes.varint()
    const keyBytes = afterAttributes.varint() ?? -1
    const type = afterAttributes.position + 2
    if (keyBytes < 4 || type + 2 > records.length) this.fail('a control record without a type')
    const kind = records.readInt16BE(type)
    return kind === ABORT || kind === COMMIT
  }

  /** @throws PROTOCOL_VIOLATION naming topic, partition and offset, always */
  fail(what: string, offset = this.baseOffset): never {
    throw new MillraceError('PROTOCOL_VIOLATION', { what: `A broker sent ${what}.`, ...this.#place(offset) })
  }

  #exactInt64(at: number, what: string): number {
    const value = readInt64(this.#block, at)
    return Number.isSafeInteger(value) && value >= 0 ? value : this.fail(`the ${what} ${String(value)}`)
  }

  #place(offset = this.baseOffset): { topic: string; partition: number; offset: number } {
    return { topic: this.#topic, partition: this.#partition, offset }
  }
}

/** Types of control records. Kafka: `ControlRecordType`. */
const ABORT = 0
const COMMIT = 1
