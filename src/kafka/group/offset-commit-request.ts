import type { TopicPartitionMap } from '../../model/topic-partition.ts'
import type { GroupMembership } from '../group-membership.ts'
import type { OffsetAndMetadata } from '../offset-and-metadata.ts'
import { splitOffsets } from '../offset-splitting.ts'
import type { RequestBodies } from '../protocol/api.ts'

/** One request, or several where the offsets' metadata are too large for one. */
export function offsetCommitRequests(
  groupId: string,
  member: GroupMembership,
  offsets: TopicPartitionMap<OffsetAndMetadata>,
): readonly RequestBodies['OffsetCommit'][] {
  return splitOffsets(groupId, offsets).map(topics => ({
    groupId,
    generationIdOrMemberEpoch: member.generationId,
    memberId: member.memberId,
    groupInstanceId: member.groupInstanceId,
    topics,
  }))
}
