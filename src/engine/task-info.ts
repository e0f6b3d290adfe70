import { formatTopicPartition } from '../model/topic-partition.ts'
import type { Fetcher } from '../kafka/fetcher/fetcher.ts'
import type { ActiveTask } from './active-task.ts'
import type { ChangelogRestorer } from './changelog-restorer.ts'
import type { TaskState } from './task-state.ts'

/** Where a task stands in one of its source partitions. */
export interface TaskOffsets {
  /** Next offset to process. */
  readonly position: number
  /** Next offset to process by the last commit; `undefined` while nothing is committed. */
  readonly committed: number | undefined
  /** End of the partition, its high watermark; `undefined` until something was fetched. */
  readonly end: number | undefined
}

/** What one task does. Kafka Streams: `TaskMetadata`. */
export interface TaskInfo {
  /** `<subtopology>_<partition>`. */
  readonly id: string
  /** Thread that owns it. */
  readonly thread: string
  /** Its state. */
  readonly state: TaskState
  /** Where it stands, per `topic-partition`. */
  readonly offsets: ReadonlyMap<string, TaskOffsets>
  /** Changelog records still to restore; offsets, of which markers and compaction take some. */
  readonly restoreRemaining: number
}

/** A thread, as far as its tasks are told of. */
export interface TaskOwner {
  tasks(): readonly ActiveTask[]
  readonly clients: { readonly fetcher: Pick<Fetcher, 'watermarks'> }
  readonly restorer: Pick<ChangelogRestorer, 'remainingOf'>
}

/** What the tasks of a thread do at this moment, as plain data that can be posted. */
export function taskInfosOf(thread: TaskOwner, name: string): readonly TaskInfo[] {
  return thread.tasks().map(task => ({
    id: task.id,
    thread: name,
    state: task.state,
    offsets: new Map(
      task.inputs.map(input => [
        formatTopicPartition(input.topicPartition),
        {
          position: task.positionOf(input),
          committed: input.committed,
          end: thread.clients.fetcher.watermarks(input.topicPartition)?.highWatermark,
        },
      ]),
    ),
    restoreRemaining: thread.restorer.remainingOf(task),
  }))
}
