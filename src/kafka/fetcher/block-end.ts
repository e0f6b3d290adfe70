import { MillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'

/** Where the next fetch goes on after a block of record batches. */
export interface BlockEnd {
  /** Offset after the last complete batch: its base offset + its last offset delta + 1, records or not. */
  readonly nextOffset: number
  /** Leader epoch under which that batch was written, for KIP-320. */
  readonly leaderEpoch: number
}

/** Byte places in a record batch v2, and the length its fixed part has beyond the length field. */
const LENGTH_AT = 8
const EPOCH_AT = 12
const MAGIC_AT = 16
const LAST_OFFSET_DELTA_AT = 23
const LENGTH_PREFIX_BYTES = 12
const HEADER_BYTES = 61

/**
 * Finds the end of a block by its batch headers alone, so that the next fetch goes out before anybody has read the
 * records. The last batch may be cut off; batches are never decompressed or checked here (the cursor does).
 *
 * @returns `undefined` when the block holds no complete batch
 * @throws PROTOCOL_VIOLATION when a header is impossible, or the batch is older than format v2
 */
export function blockEnd(records: Buffer, { topic, partition }: TopicPartition): BlockEnd | undefined {
  let at = 0
  let end: BlockEnd | undefined
  while (records.length - at >= HEADER_BYTES) {
    const length = records.readInt32BE(at + LENGTH_AT)
    const offset = readOffset(records, at)
    const magic = records.readInt8(at + MAGIC_AT)
    const delta = records.readInt32BE(at + LAST_OFFSET_DELTA_AT)
    if (magic !== 2) {
      const what = `A record batch has format ${String(magic)}; only format 2 (Kafka 0.11 and later) can be read.`
      throw new MillraceError('PROTOCOL_VIOLATION', { what, topic, partition, offset })
    }
    if (length < HEADER_BYTES - LENGTH_PREFIX_BYTES || delta < 0 || !Number.isSafeInteger(offset + delta)) {
      const what = `A record batch has an impossible header (length ${String(length)}, last offset delta ${String(delta)}).`
      throw new MillraceError('PROTOCOL_VIOLATION', { what, topic, partition, offset })
    }
    if (at + LENGTH_PREFIX_BYTES + length > records.length) break
    end = { nextOffset: offset + delta + 1, leaderEpoch: records.readInt32BE(at + EPOCH_AT) }
    at += LENGTH_PREFIX_BYTES + length
  }
  return end
}

function readOffset(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 0x1_0000_0000 + bytes.readUInt32BE(at + 4)
}
