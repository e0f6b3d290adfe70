import { EventEmitter, once } from 'node:events'
import type { Cluster } from '../../src/kafka/cluster/cluster.ts'
import type { SecurityOptions } from '../../src/kafka/connection/security-options.ts'
import { prepareCompression } from '../../src/kafka/records/compression.ts'
import type { RecordCursor } from '../../src/kafka/records/record-cursor.ts'
import { MillraceError } from '../../src/model/errors.ts'
import { TopicPartitionMap } from '../../src/model/topic-partition.ts'
import { plainFetcher } from './plain-fetcher.ts'
import { connectCluster } from './test-cluster.ts'

/** Which records a reader sees. */
export type Isolation = 'read_committed' | 'read_uncommitted'

/** How topics are read. */
export interface VisitOptions {
  /** @default 'read_committed' */
  readonly isolation?: Isolation
  /** @default 60,000 ms */
  readonly timeoutMs?: number
  readonly security?: SecurityOptions
}

/** Told of each record: the cursor stands on it, and what it gives is good for this call only. */
export type RecordVisitor = (topic: string, partition: number, record: RecordCursor) => void

/**
 * Walks topics with our own fetcher over one connection: to the last stable offset under read_committed, else to the high
 * watermark; per partition in order of offsets. Nothing is kept, so topics of any size will do.
 */
export async function visitTopics(
  bootstrapServers: string,
  topics: readonly string[],
  options: VisitOptions,
  visit: RecordVisitor,
): Promise<void> {
  const { isolation = 'read_committed', timeoutMs = 60_000, security = { protocol: 'PLAINTEXT' } } = options
  await prepareCompression()
  const { cluster, admin } = await connectCluster(bootstrapServers, { security })
  try {
    const found = await cluster.topics(topics)
    const missing = topics.find(topic => !found.has(topic))
    if (missing !== undefined) throw new MillraceError('TOPIC_MISSING', { topic: missing })
    const partitions = [...found].flatMap(([topic, info]) =>
      info.partitions.map(({ partition }) => ({ topic, partition })),
    )
    const ends = await admin.listOffsets(partitions, 'latest', isolation)
    const starts = await admin.listOffsets(partitions, 'earliest', isolation)
    await fetchAll(cluster, { starts, ends, isolation, timeoutMs }, visit)
  } finally {
    await cluster.close()
  }
}

interface Range {
  readonly starts: TopicPartitionMap<number>
  readonly ends: TopicPartitionMap<number>
  readonly isolation: Isolation
  readonly timeoutMs: number
}

async function fetchAll(
  cluster: Cluster,
  { starts, ends, isolation, timeoutMs }: Range,
  visit: RecordVisitor,
): Promise<void> {
  const woken = new EventEmitter()
  const fetcher = plainFetcher(cluster, { isolation, maxWaitMs: 100, onWake: () => woken.emit('wake') })
  const open = new TopicPartitionMap<number>()
  for (const [topicPartition, end] of ends) {
    const offset = starts.get(topicPartition) ?? 0
    if (offset >= end) continue
    open.set(topicPartition, end)
    fetcher.add(topicPartition, { offset, leaderEpoch: -1 })
  }
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    while (open.size > 0) {
      const failure = fetcher.takeFailure()
      if (failure !== undefined) throw failure.error
      if (!fetcher.hasData) await once(woken, 'wake', { signal: deadline })
      for (const [topicPartition, end] of Array.from(open)) {
        const block = fetcher.take(topicPartition)
        if (block === undefined) continue
        const { topic, partition } = topicPartition
        if (!drain(block.cursor, end, record => visit(topic, partition, record))) continue
        open.delete(topicPartition)
        fetcher.remove(topicPartition)
      }
    }
  } finally {
    await fetcher.close()
  }
}

/** @returns whether the end was reached */
function drain(cursor: RecordCursor, end: number, visit: (record: RecordCursor) => void): boolean {
  while (cursor.next()) {
    if (cursor.offset >= end) return true
    visit(cursor)
  }
  return cursor.position >= end
}
