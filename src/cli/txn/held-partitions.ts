import type { Admin } from '../../kafka/admin/admin.ts'
import type { OpenTransaction } from '../../kafka/admin/open-transactions.ts'

/** What an open transaction means for those who read the partition. */
export interface HeldPartition extends OpenTransaction {
  /** `read_committed` readers do not get past it. */
  readonly lastStableOffset: number
  readonly highWatermark: number
  /** Since when at the latest it is open, in milliseconds since 1970: by its coordinator, else its last record. */
  readonly sinceMs: number
  /** Whether `sinceMs` is its beginning, and not only its last record. */
  readonly sinceIsExact: boolean
}

/** Looks up how far readers get on the partitions of the transactions. */
export async function heldPartitions(
  admin: Admin,
  transactions: readonly OpenTransaction[],
): Promise<readonly HeldPartition[]> {
  const partitions = transactions.map(({ topicPartition }) => topicPartition)
  if (partitions.length === 0) return []
  const stable = await admin.listOffsets(partitions, 'latest', 'read_committed')
  const ends = await admin.listOffsets(partitions, 'latest', 'read_uncommitted')
  return transactions.map(transaction => {
    const { topicPartition, owner, hanging, startOffset, lastTimestampMs } = transaction
    const sinceIsExact = !hanging && owner !== undefined && owner.startedAtMs >= 0
    return {
      ...transaction,
      lastStableOffset: stable.get(topicPartition) ?? startOffset,
      highWatermark: ends.get(topicPartition) ?? startOffset,
      sinceMs: sinceIsExact ? owner.startedAtMs : lastTimestampMs,
      sinceIsExact,
    }
  })
}

/** How many records, markers among them, readers do not see because of it or of one before it. */
export function heldRecords({ lastStableOffset, highWatermark }: HeldPartition): number {
  return Math.max(0, highWatermark - lastStableOffset)
}

/** For programs. */
export function heldJson(held: HeldPartition, nowMs: number): object {
  const { topicPartition, producerId, producerEpoch, coordinatorEpoch, startOffset, lastTimestampMs, owner } = held
  return {
    ...topicPartition,
    startOffset,
    producerId,
    producerEpoch,
    coordinatorEpoch,
    lastTimestampMs,
    transactionalId: owner?.transactionalId ?? null,
    state: owner?.state ?? null,
    hanging: held.hanging,
    openForMs: nowMs - held.sinceMs,
    openForIsExact: held.sinceIsExact,
    lastStableOffset: held.lastStableOffset,
    highWatermark: held.highWatermark,
    heldRecords: heldRecords(held),
  }
}
