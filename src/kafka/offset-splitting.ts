import type { TopicPartitionMap } from '../model/topic-partition.ts'
import type { OffsetAndMetadata } from './offset-and-metadata.ts'
import type { RequestBodies } from './protocol/api.ts'

/** Kafka's names of the parts of TxnOffsetCommit, which are those of OffsetCommit too. */
export type OffsetTopic = RequestBodies['TxnOffsetCommit']['topics'][number]

/** One request must fit into one batch of the offsets topic (1 MB); beyond it every partition is answered −1. */
const OFFSET_REQUEST_BYTES_MAX = 900_000
/** Key, value and framing of one committed offset in the offsets topic, without its texts. */
const OFFSET_BYTES = 96

/** The offsets in as few requests as the broker's limit on one of them allows. */
export function splitOffsets(
  groupId: string,
  offsets: TopicPartitionMap<OffsetAndMetadata>,
  bytesMax = OFFSET_REQUEST_BYTES_MAX,
): readonly OffsetTopic[][] {
  const requests: OffsetTopic[][] = []
  let partitions: OffsetTopic['partitions'][number][] = []
  let topics: OffsetTopic[] = []
  let bytes = 0
  for (const [topic, byPartition] of offsets.byTopic()) {
    partitions = []
    for (const [partition, offset] of byPartition) {
      const entryBytes = OFFSET_BYTES + groupId.length * 3 + topic.length + Buffer.byteLength(offset.metadata)
      if (bytes > 0 && bytes + entryBytes > bytesMax) {
        if (partitions.length > 0) topics.push({ name: topic, partitions })
        requests.push(topics)
        topics = []
        partitions = []
        bytes = 0
      }
      bytes += entryBytes
      partitions.push({
        partitionIndex: partition,
        committedOffset: offset.offset,
        committedLeaderEpoch: offset.leaderEpoch,
        committedMetadata: offset.metadata,
      })
    }
    if (partitions.length > 0) topics.push({ name: topic, partitions })
  }
  if (topics.length > 0) requests.push(topics)
  return requests
}
