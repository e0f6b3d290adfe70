import { crc32cInJavaScript } from '../../src/kafka/records/crc32c.ts'

/** A record with everything format 2 can say about it. */
export interface ReferenceRecord {
  readonly offset: number
  readonly timestamp: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [name: string, value: Buffer | null])[]
}

/** A batch with everything format 2 can say about it, compacted and control batches included. */
export interface ReferenceBatch {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly leaderEpoch: number
  readonly attributes: number
  readonly baseTimestamp: bigint
  readonly maxTimestamp: bigint
  readonly producerId: bigint
  readonly epoch: number
  readonly baseSequence: number
  readonly records: readonly ReferenceRecord[]
}

/** A second, slow and plain writer of batches: what the fast one is compared with, and what builds logs for tests. */
export function encodeReferenceBatch(batch: ReferenceBatch, compress = (records: Buffer): Buffer => records): Buffer {
  const records = compress(Buffer.concat(batch.records.map(record => encodeRecord(batch, record))))
  const checked = Buffer.concat([
    int16(batch.attributes),
    int32(batch.lastOffset - batch.baseOffset),
    int64(batch.baseTimestamp),
    int64(batch.maxTimestamp),
    int64(batch.producerId),
    int16(batch.epoch),
    int32(batch.baseSequence),
    int32(batch.records.length),
    records,
  ])
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crc32cInJavaScript(checked))
  const afterLength = Buffer.concat([int32(batch.leaderEpoch), Buffer.from([2]), crc, checked])
  return Buffer.concat([int64(BigInt(batch.baseOffset)), int32(afterLength.length), afterLength])
}

/** The marker that ends a transaction. */
export function encodeMarker(offset: number, producerId: number, kind: 'abort' | 'commit'): Buffer {
  return encodeReferenceBatch({
    baseOffset: offset,
    lastOffset: offset,
    leaderEpoch: 0,
    attributes: 0x30,
    baseTimestamp: 0n,
    maxTimestamp: 0n,
    producerId: BigInt(producerId),
    epoch: 0,
    baseSequence: -1,
    records: [
      {
        offset,
        timestamp: 0n,
        key: Buffer.from([0, 0, 0, kind === 'commit' ? 1 : 0]),
        value: Buffer.alloc(6),
        headers: [],
      },
    ],
  })
}

/** Any integer of 64 bits as a zigzag varint. */
export function zigzagVarint(value: bigint): Buffer {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
  const bytes: number[] = []
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

function encodeRecord(batch: ReferenceBatch, record: ReferenceRecord): Buffer {
  const body = Buffer.concat([
    Buffer.from([0]),
    zigzagVarint(record.timestamp - batch.baseTimestamp),
    zigzagVarint(BigInt(record.offset - batch.baseOffset)),
    sized(record.key),
    sized(record.value),
    zigzagVarint(BigInt(record.headers.length)),
    ...record.headers.flatMap(([name, value]) => [sized(Buffer.from(name)), sized(value)]),
  ])
  return Buffer.concat([zigzagVarint(BigInt(body.length)), body])
}

function sized(bytes: Buffer | null): Buffer {
  return bytes === null ? zigzagVarint(-1n) : Buffer.concat([zigzagVarint(BigInt(bytes.length)), bytes])
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}
