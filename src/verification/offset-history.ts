import { sameTopicPartition, type TopicPartition } from '../model/topic-partition.ts'
import { readProgress } from '../engine/commit-offsets.ts'
import { type Fate, missingOffsets, type ObservedPartition } from './observed-log.ts'

/** One offset commit, as the group's own log holds it. */
export interface OffsetCommit {
  readonly topicPartition: TopicPartition
  readonly offset: number
  readonly metadata: string
  /** `millrace.txn`; `undefined` when the metadata are not ours. */
  readonly transaction: number | undefined
  readonly producerId: number
  readonly producerEpoch: number
  readonly fate: Fate
  /** Offset in the group's log at which it became valid, or was given up. */
  readonly decidedAt: number | undefined
}

/** Every offset commit of a group in the order in which they became valid. */
export interface OffsetHistory {
  readonly commits: readonly OffsetCommit[]
  /** Whether nothing of it has been cleaned away. */
  readonly isComplete: boolean
  /** Partitions whose offset was deleted (expired, reset, group deleted), in that order. */
  readonly deleted: readonly TopicPartition[]
}

/** The internal topic of offsets. */
export const OFFSETS_TOPIC = '__consumer_offsets'

/** The partition of a group's offsets. Kafka: `GroupMetadataManager.partitionFor`. */
export function offsetsPartitionOf(group: string, partitions: number): number {
  let hash = 0
  for (let at = 0; at < group.length; at++) hash = (Math.imul(31, hash) + group.charCodeAt(at)) | 0
  // Java's `Math.abs` of the smallest integer would be negative.
  return (hash === -0x8000_0000 ? 0 : Math.abs(hash)) % partitions
}

/**
 * Picks a group's commits out of the log of offsets.
 *
 * @param held - partitions for which the group holds an offset: a log that knows nothing of one of them is not complete
 */
export function readOffsetHistory(
  log: ObservedPartition,
  group: string,
  held: Iterable<TopicPartition>,
): OffsetHistory {
  const commits: OffsetCommit[] = []
  const deleted: TopicPartition[] = []
  for (const { key, value, producerId, producerEpoch, fate, decidedAt } of log.records) {
    const topicPartition = key === null ? undefined : committedPartition(key, group)
    if (topicPartition === undefined) continue
    if (value === null) {
      if (fate === 'committed') deleted.push(topicPartition)
      continue
    }
    const { offset, leaderEpoch, metadata } = committedOffset(value)
    const { transaction } = readProgress({ offset, leaderEpoch, metadata })
    commits.push({ topicPartition, offset, metadata, transaction, producerId, producerEpoch, fate, decidedAt })
  }
  const knowsAll = Array.from(held).every(partition =>
    commits.some(({ topicPartition }) => sameTopicPartition(topicPartition, partition)),
  )
  const isComplete = knowsAll && log.logStart === 0 && missingOffsets(log) === 0
  const order = commits.toSorted((a, b) => (a.decidedAt ?? Infinity) - (b.decidedAt ?? Infinity))
  return { commits: order, isComplete, deleted }
}

/** The key of a commit: versions 0 and 1 name group, topic and partition; other keys are of members. */
function committedPartition(key: Buffer, group: string): TopicPartition | undefined {
  if (key.length < 4 || key.readInt16BE(0) > 1) return undefined
  const groupEnd = 4 + key.readInt16BE(2)
  if (key.toString('utf8', 4, groupEnd) !== group) return undefined
  const topicEnd = groupEnd + 2 + key.readInt16BE(groupEnd)
  return { topic: key.toString('utf8', groupEnd + 2, topicEnd), partition: key.readInt32BE(topicEnd) }
}

/** Kafka: `OffsetCommitValue`, versions 0 to 4. */
function committedOffset(value: Buffer): {
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
} {
  const version = value.readInt16BE(0)
  const offset = Number(value.readBigInt64BE(2))
  const hasEpoch = version >= 3
  const leaderEpoch = hasEpoch ? value.readInt32BE(10) : -1
  const at = hasEpoch ? 14 : 10
  if (version < 4)
    return { offset, leaderEpoch, metadata: value.toString('utf8', at + 2, at + 2 + value.readInt16BE(at)) }
  let length = 0
  let start = at
  for (let shift = 0; ; shift += 7) {
    const byte = value.readUInt8(start)
    start += 1
    length |= (byte & 0x7f) << shift
    if (byte < 0x80) break
  }
  return { offset, leaderEpoch, metadata: value.toString('utf8', start, start + length - 1) }
}
