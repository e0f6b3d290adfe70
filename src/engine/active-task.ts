import { formatTopicPartition, type TopicPartition } from '../model/topic-partition.ts'
import { assert } from '../model/assert.ts'
import type { SourcePlan } from '../topology/plan.ts'
import type { StreamTask } from './stream-task.ts'
import { nextTaskState, type TaskEvent, type TaskState } from './task-state.ts'

/** One source partition of a task, with what the group holds for it. */
export interface TaskInput {
  readonly topicPartition: TopicPartition
  readonly source: SourcePlan
  /** What the group has committed; `undefined` while nothing is. */
  committed: number | undefined
  /** `millrace.txn` of that commit; `undefined` when it was not ours or there is none. */
  committedTransaction: number | undefined
  /** Next offset to process after a start or a rewind: the committed one, or where the reset policy begins. */
  rewindTo: number
  /** Leader epoch of the last batch that was handed to the task; −1 while unknown. */
  leaderEpoch: () => number
}

/** A task of this thread: the synchronous `StreamTask` with its life cycle and what is committed of its inputs. */
export class ActiveTask {
  readonly task: StreamTask
  readonly subtopology: number
  readonly partition: number
  readonly inputs: readonly TaskInput[]
  #state: TaskState = 'created'

  constructor(
    task: StreamTask,
    place: { readonly subtopology: number; readonly partition: number },
    inputs: readonly TaskInput[],
  ) {
    this.task = task
    this.subtopology = place.subtopology
    this.partition = place.partition
    this.inputs = inputs
  }

  /** `<subtopology>_<partition>`. */
  get id(): string {
    return this.task.id
  }

  get state(): TaskState {
    return this.#state
  }

  on(event: TaskEvent): void {
    this.#state = nextTaskState(this.#state, event)
  }

  /** Next offset to process of an input. */
  positionOf(input: TaskInput): number {
    return this.task.position(input.topicPartition.topic) ?? input.rewindTo
  }

  /** Whether a commit has to name this task: it read on, or wrote something. */
  get owesCommit(): boolean {
    return this.task.uncommitted || this.inputs.some(input => this.positionOf(input) !== input.rewindTo)
  }

  /** Takes over an acknowledged commit (step 6 of the commit cycle). */
  committed(positions: (input: TaskInput) => number, transaction: number): void {
    for (const input of this.inputs) {
      const position = positions(input)
      assert(position >= input.rewindTo, 'I6 monotony', {
        partition: formatTopicPartition(input.topicPartition),
        position,
        committed: input.rewindTo,
      })
      input.committed = position
      input.rewindTo = position
      input.committedTransaction = transaction
    }
    this.task.commitState()
  }
}
