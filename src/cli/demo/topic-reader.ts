import { MillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import { RecordCursor } from '../../kafka/records/record-cursor.ts'
import { abortMarkers } from './abort-markers.ts'
import type { DemoCluster } from './demo-cluster.ts'
import type { FoundRecord } from './totals-check.ts'

/** What a whole topic holds. */
export interface TopicContent {
  /** What a read_committed reader sees, per partition in order of offsets. */
  readonly records: readonly FoundRecord[]
  /** Producer id, epoch and number of every abort marker: one per aborted transaction, the same in each partition it wrote to. */
  readonly aborted: ReadonlySet<string>
  /** Partitions that a read_committed reader cannot read to their end, because a transaction is open. */
  readonly blocked: readonly TopicPartition[]
}

const FETCH_VERSION = 12
const FETCH_BYTES = 1_048_576
const FETCH_WAIT_MS = 500
const READ_COMMITTED = 1
const REPLICA_OF_NO_BROKER = -1

/** Reads a topic from its beginning to its end, one partition after the other, one plain Fetch at a time. */
export async function readWholeTopic(demo: DemoCluster, topic: string): Promise<TopicContent> {
  const info = await demo.cluster.topic(topic)
  if (info === undefined) throw new MillraceError('TOPIC_MISSING', { topic })
  const partitions = info.partitions.map(({ partition }) => ({ topic, partition }))
  const ends = await demo.admin.listOffsets(partitions, 'latest', 'read_uncommitted')
  const starts = await demo.admin.listOffsets(partitions, 'earliest', 'read_uncommitted')
  const records: FoundRecord[] = []
  const aborted = new Set<string>()
  const markers = new Set<string>()
  const blocked: TopicPartition[] = []
  for (const topicPartition of partitions) {
    let position = starts.get(topicPartition) ?? 0
    const end = ends.get(topicPartition) ?? 0
    while (position < end) {
      const next = await readBlock(demo, topicPartition, position, { records, aborted, markers })
      if (next === position) {
        blocked.push(topicPartition)
        break
      }
      position = next
    }
  }
  return { records, aborted, blocked }
}

/** @returns where to go on; the same position when nothing can be read */
async function readBlock(
  { cluster }: DemoCluster,
  { topic, partition }: TopicPartition,
  position: number,
  into: { readonly records: FoundRecord[]; readonly aborted: Set<string>; readonly markers: Set<string> },
): Promise<number> {
  const leader = cluster.leaderOf({ topic, partition })
  if (leader === undefined) throw new MillraceError('KAFKA_ERROR', { topic, partition, what: 'There is no leader.' })
  const connection = await cluster.connection(leader.nodeId, 'fetch')
  const answer = await connection.send(
    'Fetch',
    {
      replicaId: REPLICA_OF_NO_BROKER,
      maxWaitMs: FETCH_WAIT_MS,
      minBytes: 1,
      maxBytes: FETCH_BYTES,
      isolationLevel: READ_COMMITTED,
      topics: [{ topic, partitions: [{ partition, fetchOffset: position, partitionMaxBytes: FETCH_BYTES }] }],
    },
    { version: FETCH_VERSION },
  )
  const [found] = answer.responses.flatMap(({ partitions }) => partitions)
  if (found === undefined || answer.errorCode !== 0 || found.errorCode !== 0) {
    const kafkaCode = found?.errorCode ?? answer.errorCode
    throw new MillraceError('KAFKA_ERROR', { topic, partition, kafkaCode, what: 'The topic cannot be read.' })
  }
  const records = found.records ?? Buffer.alloc(0)
  for (const marker of abortMarkers(records)) {
    // Before transaction.version 2 several transactions share an epoch: number those of one partition.
    let number = 1
    const of = `${topic}-${String(partition)}:${marker}`
    while (into.markers.has(`${of}#${String(number)}`)) number += 1
    into.markers.add(`${of}#${String(number)}`)
    into.aborted.add(`${marker}#${String(number)}`)
  }
  const cursor = new RecordCursor()
  const aborted = found.abortedTransactions ?? []
  cursor.reset({ topic, partition, records, position, aborted, isolation: 'read_committed' })
  while (cursor.next()) into.records.push({ key: copyOf(cursor.key), value: copyOf(cursor.value) })
  return cursor.position
}

function copyOf(bytes: Buffer | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes)
}
