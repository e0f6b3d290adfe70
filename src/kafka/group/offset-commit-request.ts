import type { TopicPartitionMap } from '../../model/topic-partition.ts'
import type { GroupMembership } from '../group-membership.ts'
import type { OffsetAndMetadata } from '../offset-and-metadata.ts'
import type { RequestBodies } from '../protocol/api.ts'

/** The coordinator writes one request as one batch, which must fit into its topic's `max.message.bytes` (1 MiB). */
const REQUEST_BYTES_MAX = 900_000

/** Beside topic name and metadata: key and value fields, and the record's own framing, generously. */
const PARTITION_BYTES = 100

/** Bytes per UTF-16 unit of metadata at most. */
const UTF8_BYTES_MAX = 3

/** One request, or several where the offsets' metadata are too large for one. */
export function offsetCommitRequests(
  groupId: string,
  member: GroupMembership,
  offsets: TopicPartitionMap<OffsetAndMetadata>,
): readonly RequestBodies['OffsetCommit'][] {
  const requests: Map<string, CommittedPartition[]>[] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const [{ topic, partition }, { offset, leaderEpoch, metadata }] of offsets) {
    const size = PARTITION_BYTES + topic.length + groupId.length + metadata.length * UTF8_BYTES_MAX
    if (bytes + size > REQUEST_BYTES_MAX) {
      requests.push(new Map())
      bytes = 0
    }
    bytes += size
    const topics = requests.at(-1)
    const partitions = topics?.get(topic) ?? []
    topics?.set(topic, partitions)
    partitions.push({
      partitionIndex: partition,
      committedOffset: offset,
      committedLeaderEpoch: leaderEpoch,
      committedMetadata: metadata,
    })
  }
  return requests.map(topics => ({
    groupId,
    generationIdOrMemberEpoch: member.generationId,
    memberId: member.memberId,
    groupInstanceId: member.groupInstanceId,
    topics: [...topics].map(([name, partitions]) => ({ name, partitions })),
  }))
}

interface CommittedPartition {
  readonly partitionIndex: number
  readonly committedOffset: number
  readonly committedLeaderEpoch: number
  readonly committedMetadata: string
}
