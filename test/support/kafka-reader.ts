import { EventEmitter, once } from 'node:events'
import { MillraceError } from '../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../src/model/logger.ts'
import { systemClock } from '../../src/engine/system-clock.ts'
import type { Cluster } from '../../src/kafka/cluster/cluster.ts'
import type { SecurityOptions } from '../../src/kafka/connection/security-options.ts'
import { Fetcher } from '../../src/kafka/fetcher/fetcher.ts'
import { prepareCompression } from '../../src/kafka/records/compression.ts'
import type { RecordCursor } from '../../src/kafka/records/record-cursor.ts'
import { TopicPartitionMap } from '../../src/model/topic-partition.ts'
import { JavaClient, sharedJavaClient } from './java-client.ts'
import { connectCluster } from './test-cluster.ts'

/** Which records a reader sees. */
export type Isolation = 'read_committed' | 'read_uncommitted'

/** A record as a reader found it. */
export interface ReadRecord {
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [string, Buffer | null])[]
}

/** A committed offset of a group. */
export interface CommittedOffset {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
}

interface RecordLine {
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
  readonly headers: readonly (readonly [string, string | null])[]
}

/**
 * A whole topic as the Java client sees it: to the last stable offset under read_committed, else to the high
 * watermark; per partition in order of offsets. Without a JDK it is read by our own fetcher, and says so.
 */
export async function readTopic(
  bootstrapServers: string,
  topic: string,
  isolation: Isolation = 'read_committed',
  timeoutMs = 60_000,
): Promise<ReadRecord[]> {
  if (!(await JavaClient.available())) {
    console.warn('No JDK here: the topic is read by our own fetcher, which is not an independent reader.')
    return readTopicInProcess(bootstrapServers, topic, isolation, timeoutMs)
  }
  const client = await sharedJavaClient(bootstrapServers)
  const lines = await client.command(['read', topic, isolation, String(timeoutMs)])
  return lines.map(line => {
    const record = JSON.parse(line) as RecordLine
    return {
      ...record,
      key: bytesOf(record.key),
      value: bytesOf(record.value),
      headers: record.headers.map(([name, value]) => [name, bytesOf(value)] as const),
    }
  })
}

/** The committed offsets of a group, as the Java admin client sees them, ordered by topic and partition. */
export async function committedOffsets(bootstrapServers: string, group: string): Promise<CommittedOffset[]> {
  const client = await sharedJavaClient(bootstrapServers)
  const lines = await client.command(['offsets', group])
  return lines.map(line => JSON.parse(line) as CommittedOffset)
}

/** As `readTopic`, but by our own fetcher in this process: for speed, where the fetcher is not what is in doubt. */
export async function readTopicInProcess(
  bootstrapServers: string,
  topic: string,
  isolation: Isolation = 'read_committed',
  timeoutMs = 60_000,
  security: SecurityOptions = { protocol: 'PLAINTEXT' },
): Promise<ReadRecord[]> {
  const topics = await readTopicsInProcess(bootstrapServers, [topic], { isolation, timeoutMs, security })
  return topics.get(topic) ?? []
}

/** As `readTopicInProcess`, for many topics over one connection. */
export async function readTopicsInProcess(
  bootstrapServers: string,
  topics: readonly string[],
  options: { readonly isolation?: Isolation; readonly timeoutMs?: number; readonly security?: SecurityOptions } = {},
): Promise<ReadonlyMap<string, ReadRecord[]>> {
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
    const records = new Map<string, ReadRecord[]>(topics.map(topic => [topic, []]))
    await fetchAll(cluster, { starts, ends, isolation, timeoutMs }, records)
    return records
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
  into: ReadonlyMap<string, ReadRecord[]>,
): Promise<void> {
  const woken = new EventEmitter()
  const fetcher = new Fetcher({
    cluster,
    clock: systemClock,
    logger: SILENT_LOGGER,
    isolation,
    maxWaitMs: 100,
    minBytes: 1,
    maxBytes: 52_428_800,
    partitionMaxBytes: 1_048_576,
    onWake: () => woken.emit('wake'),
  })
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
        const records = into.get(topicPartition.topic)
        if (block === undefined || records === undefined) continue
        if (!drain(block.cursor, topicPartition.partition, end, records)) continue
        open.delete(topicPartition)
        fetcher.remove(topicPartition)
      }
    }
  } finally {
    await fetcher.close()
  }
}

/** @returns whether the end was reached */
function drain(cursor: RecordCursor, partition: number, end: number, into: ReadRecord[]): boolean {
  while (cursor.next()) {
    const { offset, timestamp, key, value, headers } = cursor
    if (offset >= end) return true
    into.push({ partition, offset, timestamp, key, value, headers: copyOf(headers) })
  }
  return cursor.position >= end
}

function copyOf(headers: Iterable<readonly [string, Uint8Array | null]>): (readonly [string, Buffer | null])[] {
  return Array.from(headers, ([name, value]) => [name, value === null ? null : Buffer.from(value)] as const)
}

function bytesOf(hex: string | null): Buffer | null {
  return hex === null ? null : Buffer.from(hex, 'hex')
}
