import { sleep } from '../../model/clock.ts'
import { formatTopicPartition, type TopicPartition } from '../../model/topic-partition.ts'
import type { DemoCluster } from './demo-cluster.ts'
import { transactionsOf } from './kill-series.ts'

const POLL_MS = 50

/**
 * Waits until the group has committed everything that is written, for as long as it gets on: a slow machine is not a lost
 * record.
 *
 * @param stallMs - without a record less to read, after which it is given up
 * @returns partitions that still lag, as texts; none when all is read
 */
export async function untilNoLag(
  { admin, clock }: DemoCluster,
  applicationId: string,
  partitions: readonly TopicPartition[],
  stallMs: number,
): Promise<readonly string[]> {
  let least = Number.POSITIVE_INFINITY
  let deadlineMs = clock.nowMs() + stallMs
  for (;;) {
    // In this order, and with what is not decided yet: a transaction that has read the end of one topic has by then
    // written into the next, where its markers may still be missing.
    const committed = await admin.committedOffsets(applicationId, partitions, { requireStable: true })
    const ends = await admin.listOffsets(partitions, 'latest', 'read_uncommitted')
    const lagOf = (place: TopicPartition): number =>
      Math.max(0, (ends.get(place) ?? 0) - (committed.get(place)?.offset ?? 0))
    const lagging = partitions.filter(place => lagOf(place) > 0)
    if (lagging.length === 0) return []
    const lag = partitions.reduce((sum, place) => sum + lagOf(place), 0)
    if (lag < least) {
      least = lag
      deadlineMs = clock.nowMs() + stallMs
    }
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
