import { NO_HEADERS } from '../../../../src/model/headers.ts'
import { RecordBatchWriter } from '../../../../src/kafka/records/record-batch-writer.ts'

/** How a batch of a test differs from the usual one. */
export interface BatchShape {
  readonly leaderEpoch?: number
  /** Offsets the batch spans; more than its records after compaction. @default the number of records */
  readonly span?: number
}

/** One record batch as a leader stores it, with values `v<offset>`. */
export function batchAt(baseOffset: number, records: number, { leaderEpoch = 0, span }: BatchShape = {}): Buffer {
  const writer = new RecordBatchWriter({ initialBytes: 1_024, maxBytes: 1_048_576 })
  const count = Math.max(1, span ?? records)
  for (let index = 0; index < count; index += 1) {
    writer.append(null, Buffer.from(`v${String(baseOffset + index)}`), 1_000 + index, NO_HEADERS)
  }
  const sealed = writer.seal('none')
  sealed.stamp(null)
  const bytes = Buffer.from(sealed.bytes)
  // The leader sets both when it appends; the checksum does not cover them.
  bytes.writeBigInt64BE(BigInt(baseOffset), 0)
  bytes.writeInt32BE(leaderEpoch, 12)
  return bytes
}
