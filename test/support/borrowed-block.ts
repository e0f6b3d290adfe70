import { RecordCursor } from '../../src/kafka/records/record-cursor.ts'
import { encodeReferenceBatch } from './reference-batches.ts'

/** A record of such a block. */
export interface BorrowedRecord {
  readonly key: string
  readonly value: string | Uint8Array
  readonly timestamp: number
  readonly offset: number
}

/** Records as a fetch answer holds them, whose memory is overwritten as soon as it is given back. */
export function borrowedBlock(topic: string, block: readonly BorrowedRecord[]): RecordCursor {
  const records = encodeReferenceBatch({
    baseOffset: block[0]?.offset ?? 0,
    lastOffset: block.at(-1)?.offset ?? 0,
    leaderEpoch: 0,
    attributes: 0,
    baseTimestamp: 0n,
    maxTimestamp: 1_000n,
    producerId: -1n,
    epoch: -1,
    baseSequence: -1,
    records: block.map(({ key, value, timestamp, offset }) => ({
      offset,
      timestamp: BigInt(timestamp),
      key: Buffer.from(key),
      value: Buffer.from(value),
      headers: [],
    })),
  })
  const cursor = new RecordCursor()
  const loan = { release: () => records.fill(0xaa) }
  const place = { topic, partition: 3, position: block[0]?.offset ?? 0, isolation: 'read_committed' } as const
  cursor.reset({ ...place, records, aborted: [], loan })
  return cursor
}
