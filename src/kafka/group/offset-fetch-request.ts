import { TopicPartitionMap, type TopicPartition } from '../../model/topic-partition.ts'
import type { RequestBodies, ResponseBodies } from '../protocol/api.ts'

/** What OffsetFetch said about one partition. */
export interface FetchedOffset {
  readonly errorCode: number
  /** −1 when there is none. */
  readonly offset: number
  /** −1 when unknown. */
  readonly leaderEpoch: number
  readonly metadata: string
}

/** From this version on a request may ask for several groups. */
const GROUPS_FROM_VERSION = 8

/** A request for stable offsets, in the form of the version. */
export function offsetFetchRequest(
  groupId: string,
  partitions: readonly TopicPartition[],
  version: number,
): RequestBodies['OffsetFetch'] {
  const wanted = new TopicPartitionMap<true>(partitions.map(topicPartition => [topicPartition, true]))
  const topics = [...wanted.byTopic()].map(([name, indexes]) => ({ name, partitionIndexes: [...indexes.keys()] }))
  return version >= GROUPS_FROM_VERSION
    ? { groups: [{ groupId, topics }], requireStable: true }
    : { groupId, topics, requireStable: true }
}

/** The answer, in whichever form it came. */
export function offsetFetchAnswers(
  groupId: string,
  answer: ResponseBodies['OffsetFetch'],
): { readonly errorCode: number; readonly offsets: TopicPartitionMap<FetchedOffset> } {
  const group = answer.groups.find(other => other.groupId === groupId)
  const offsets = new TopicPartitionMap<FetchedOffset>()
  for (const { name, partitions } of group?.topics ?? answer.topics) {
    for (const { partitionIndex, errorCode, committedOffset, committedLeaderEpoch, metadata } of partitions) {
      offsets.set(
        { topic: name, partition: partitionIndex },
        { errorCode, offset: committedOffset, leaderEpoch: committedLeaderEpoch, metadata: metadata ?? '' },
      )
    }
  }
  return { errorCode: group?.errorCode ?? answer.errorCode, offsets }
}
