import { sleep } from '../../model/clock.ts'
import { formatTopicPartition, type TopicPartition } from '../../model/topic-partition.ts'
import type { DemoCluster } from './demo-cluster.ts'
import { transactionsOf } from './kill-series.ts'

const POLL_MS = 50

/**
 * Waits until the group has committed everything a read_committed reader can read.
 *
 * @returns partitions that still lag, as texts; none when all is read
 */
export async function untilNoLag(
  { admin, clock }: DemoCluster,
  applicationId: string,
  partitions: readonly TopicPartition[],
  timeoutMs: number,
): Promise<readonly string[]> {
  const deadlineMs = clock.nowMs() + timeoutMs
  for (;;) {
    const ends = await admin.listOffsets(partitions, 'latest', 'read_committed')
    const committed = await admin.committedOffsets(applicationId, partitions, { requireStable: true })
    const lagging = partitions.filter(
      topicPartition => (ends.get(topicPartition) ?? 0) > (committed.get(topicPartition)?.offset ?? 0),
    )
    if (lagging.length === 0) return []
    if (clock.nowMs() > deadlineMs) {
      return lagging.map(
        topicPartition =>
          `${formatTopicPartition(topicPartition)} is committed up to ${String(committed.get(topicPartition)?.offset ?? 0)} of ${String(ends.get(topicPartition))}`,
      )
    }
    await sleep(clock, POLL_MS)
  }
}

/** The application's transactional ids that have a transaction open, as texts. */
export async function openTransactions(demo: DemoCluster, applicationId: string): Promise<readonly string[]> {
  const transactions = await transactionsOf(demo, applicationId)
  return transactions
    .filter(({ state }) => state === 'Ongoing' || state.startsWith('Prepare'))
    .map(({ transactionalId, state }) => `${transactionalId} is ${state}`)
}
