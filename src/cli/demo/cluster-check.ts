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

/**
 * Waits until none of the application's transactional ids has a transaction open: a commit is acknowledged when it is
 * decided, and its markers are written after that.
 *
 * @returns those that stay open, as texts
 */
export async function untilNoneOpen(
  demo: DemoCluster,
  applicationId: string,
  timeoutMs: number,
): Promise<readonly string[]> {
  const deadlineMs = demo.clock.nowMs() + timeoutMs
  for (;;) {
    const open = (await transactionsOf(demo, applicationId)).filter(
      ({ state }) => state === 'Ongoing' || state.startsWith('Prepare'),
    )
    if (open.length === 0) return []
    if (demo.clock.nowMs() > deadlineMs)
      return open.map(({ transactionalId, state }) => `${transactionalId} is ${state}`)
    await sleep(demo.clock, POLL_MS)
  }
}
