import type { TopicPartition, TopicPartitionMap } from '../../model/topic-partition.ts'
import { groupByTopic } from '../partition-grouping.ts'
import type { AdminContext } from './admin-call.ts'
import { askLeaders } from './leader-calls.ts'

/** Where in a log: its first record, its end, or the first record at or after a time (milliseconds since 1970). */
export type OffsetSpec = 'earliest' | 'latest' | { readonly timestamp: number }

/** Whether the end of a log is the last stable offset or the high watermark. Kafka: `isolation.level`. */
export type IsolationLevel = 'read_committed' | 'read_uncommitted'

const LATEST_TIMESTAMP = -1
const EARLIEST_TIMESTAMP = -2
/** What clients put where followers put their node id. */
const CONSUMER_REPLICA_ID = -1

/** As `Admin.listOffsets`. */
export function listOffsets(
  context: AdminContext,
  partitions: readonly TopicPartition[],
  at: OffsetSpec,
  isolation: IsolationLevel,
): Promise<TopicPartitionMap<number>> {
  const timestamp = at === 'latest' ? LATEST_TIMESTAMP : at === 'earliest' ? EARLIEST_TIMESTAMP : at.timestamp
  return askLeaders(context, {
    doing: 'read an offset',
    partitions,
    async ask(connection, some, timeoutMs) {
      const response = await connection.send(
        'ListOffsets',
        {
          replicaId: CONSUMER_REPLICA_ID,
          isolationLevel: isolation === 'read_committed' ? 1 : 0,
          topics: [...groupByTopic(some)].map(([name, indexes]) => ({
            name,
            partitions: indexes.map(partitionIndex => ({ partitionIndex, timestamp })),
          })),
        },
        { timeoutMs },
      )
      return response.topics.flatMap(({ name, partitions: answers }) =>
        answers.map(({ partitionIndex, errorCode, offset }) => ({
          topicPartition: { topic: name, partition: partitionIndex },
          errorCode,
          value: offset,
        })),
      )
    },
  })
}

/** As `Admin.deleteRecords`. */
export function deleteRecords(
  context: AdminContext,
  before: TopicPartitionMap<number>,
): Promise<TopicPartitionMap<number>> {
  return askLeaders(context, {
    doing: 'delete records',
    partitions: [...before.keys()],
    async ask(connection, some, timeoutMs) {
      const response = await connection.send(
        'DeleteRecords',
        {
          timeoutMs,
          topics: [...groupByTopic(some)].map(([name, indexes]) => ({
            name,
            partitions: indexes.map(partitionIndex => ({
              partitionIndex,
              offset: before.get({ topic: name, partition: partitionIndex }) ?? 0,
            })),
          })),
        },
        { timeoutMs },
      )
      return response.topics.flatMap(({ name, partitions: answers }) =>
        answers.map(({ partitionIndex, errorCode, lowWatermark }) => ({
          topicPartition: { topic: name, partition: partitionIndex },
          errorCode,
          value: lowWatermark,
        })),
      )
    },
  })
}
