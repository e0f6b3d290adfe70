import type { SecurityOptions } from '../../src/kafka/connection/security-options.ts'
import { JavaClient, sharedJavaClient } from './java-client.ts'
import { type Isolation, type VisitOptions, visitTopics } from './topic-visitor.ts'

export type { Isolation } from './topic-visitor.ts'

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
  options: VisitOptions = {},
): Promise<ReadonlyMap<string, ReadRecord[]>> {
  const records = new Map<string, ReadRecord[]>(topics.map(topic => [topic, []]))
  await visitTopics(
    bootstrapServers,
    topics,
    options,
    (topic, partition, { offset, timestamp, key, value, headers }) => {
      records.get(topic)?.push({ partition, offset, timestamp, key, value, headers: copyOf(headers) })
    },
  )
  return records
}

function copyOf(headers: Iterable<readonly [string, Uint8Array | null]>): (readonly [string, Buffer | null])[] {
  return Array.from(headers, ([name, value]) => [name, value === null ? null : Buffer.from(value)] as const)
}

function bytesOf(hex: string | null): Buffer | null {
  return hex === null ? null : Buffer.from(hex, 'hex')
}
