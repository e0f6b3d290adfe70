import { MillraceError } from '../model/errors.ts'
import { TopicPartitionMap } from '../model/topic-partition.ts'
import type { OffsetAndMetadata } from '../kafka/offset-and-metadata.ts'
import type { ActiveTask, TaskInput } from './active-task.ts'
import { decodeOffsetMetadata, encodeOffsetMetadata } from './offset-metadata.ts'

/** Key of the number that is unique to a transaction; decides what became of an unknown EndTxn. */
const TRANSACTION_KEY = 'millrace.txn'
/**
 * Key of the offset the variables belong to. A JVM application carries foreign keys on unchanged, so ours may come back
 * stale; they count only when this equals the committed offset.
 */
const OFFSET_KEY = 'millrace.offset'
/** `offset.metadata.max.bytes` of a broker, which counts UTF-16 characters. */
const METADATA_CHARACTERS_MAX = 4_096

/** What the committed metadata of a partition says. */
export interface CommittedProgress {
  /** Highest record timestamp seen on the partition; −1 at first. */
  readonly partitionTime: number
  /** Task variables as of the committed offset; empty when the metadata is foreign or stale. */
  readonly variables: ReadonlyMap<string, number>
  /** Number of the transaction that committed it; `undefined` when it was not ours. */
  readonly transaction: number | undefined
}

/**
 * Offsets and metadata of every task that owes a commit. All source partitions of such a task are named, those that did
 * not move too: each then carries the task's variables as of this commit, and a task that only wrote (a punctuation) is
 * fenced by the group like any other.
 */
export function offsetsToCommit(
  tasks: readonly ActiveTask[],
  transaction: number,
): TopicPartitionMap<OffsetAndMetadata> {
  const offsets = new TopicPartitionMap<OffsetAndMetadata>()
  for (const task of tasks) {
    if (!task.owesCommit) continue
    const variables = task.task.variables.snapshot()
    for (const input of task.inputs) {
      const offset = task.positionOf(input)
      offsets.set(input.topicPartition, {
        offset,
        leaderEpoch: input.leaderEpoch(),
        metadata: metadataOf(task, input, { variables, offset, transaction }),
      })
    }
  }
  return offsets
}

/** Reads back what `offsetsToCommit` wrote; tolerates what a JVM application or a tool left there. */
export function readProgress(committed: OffsetAndMetadata): CommittedProgress {
  const { partitionTime: time, variables } = decodeOffsetMetadata(committed.metadata)
  const partitionTime = numberOf(time) ?? -1
  if (numberOf(variables.get(OFFSET_KEY)) !== committed.offset) {
    return { partitionTime, variables: new Map(), transaction: undefined }
  }
  const own = new Map<string, number>()
  for (const [name, value] of variables) {
    const number = numberOf(value)
    if (name !== TRANSACTION_KEY && name !== OFFSET_KEY && number !== undefined) own.set(name, number)
  }
  return { partitionTime, variables: own, transaction: numberOf(variables.get(TRANSACTION_KEY)) }
}

interface Progress {
  readonly variables: ReadonlyMap<string, number>
  readonly offset: number
  readonly transaction: number
}

function metadataOf(task: ActiveTask, input: TaskInput, { variables, offset, transaction }: Progress): string {
  const entries = new Map<string, number>(variables)
  entries.set(TRANSACTION_KEY, transaction)
  entries.set(OFFSET_KEY, offset)
  const partitionTime = task.task.partitionTime(input.topicPartition.topic)
  const metadata = encodeOffsetMetadata({ partitionTime, variables: entries })
  if (metadata.length > METADATA_CHARACTERS_MAX) {
    throw new MillraceError('TOPOLOGY_INVALID', {
      task: task.id,
      what: `The task keeps ${String(variables.size)} variables; its offset metadata would take ${String(metadata.length)} characters and a broker accepts ${String(METADATA_CHARACTERS_MAX)}.`,
      action: 'Split the application at a repartition topic, or into two applications.',
    })
  }
  return metadata
}

function numberOf(value: number | bigint | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
