import { TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import { assert } from '../model/assert.ts'
import type { ApplicationPlan, SourcePlan, SubtopologyPlan } from '../topology/plan.ts'
import { ActiveTask, type TaskInput } from './active-task.ts'
import type { StreamTask } from './stream-task.ts'

/** Which partitions a task of the given number reads: partition n of every source topic that has one. */
export interface TaskPlace {
  readonly subtopology: SubtopologyPlan
  readonly partition: number
}

/** The tasks a thread owns, and which partition belongs to which. Kafka Streams: `Tasks`. */
export class TaskRegistry {
  readonly #tasks = new Map<string, ActiveTask>()
  readonly #sources = new Map<string, { readonly subtopology: SubtopologyPlan; readonly source: SourcePlan }>()
  readonly #createTask: (place: TaskPlace) => StreamTask

  constructor(plan: ApplicationPlan, createTask: (place: TaskPlace) => StreamTask) {
    this.#createTask = createTask
    for (const subtopology of plan.subtopologies) {
      for (const source of subtopology.sources)
        for (const topic of source.topics) this.#sources.set(topic, { subtopology, source })
    }
  }

  /** Topics the group subscribes to, in a fixed order. */
  get sourceTopics(): readonly string[] {
    return [...this.#sources.keys()].toSorted()
  }

  all(): readonly ActiveTask[] {
    return [...this.#tasks.values()]
  }

  running(): readonly ActiveTask[] {
    return this.all().filter(task => task.state === 'running')
  }

  inState(state: ActiveTask['state']): readonly ActiveTask[] {
    return this.all().filter(task => task.state === state)
  }

  /** Wall-clock time of the next punctuation of a running task, in ms; infinity without one. */
  nextPunctuationMs(): number {
    return Math.min(...this.running().map(({ task }) => task.nextPunctuationMs ?? Number.POSITIVE_INFINITY))
  }

  /** When the first wait of a running task for an empty input is over, by the monotonic clock; infinity without one. */
  idleUntilMs(): number {
    return Math.min(...this.running().map(({ task }) => task.idle?.nextMs() ?? Number.POSITIVE_INFINITY))
  }

  /** Every source partition of every task. */
  ownedPartitions(): readonly TopicPartition[] {
    return this.all().flatMap(task => task.inputs.map(input => input.topicPartition))
  }

  /** The task that reads the partition, or would if it were assigned. */
  taskOf({ topic, partition }: TopicPartition): ActiveTask | undefined {
    const place = this.#sources.get(topic)
    return place === undefined ? undefined : this.#tasks.get(taskId(place.subtopology.id, partition))
  }

  /** Whether its task is there without it: the task has got one more input, because a topic has got more partitions. */
  lacks(partition: TopicPartition): boolean {
    return this.taskOf(partition) !== undefined && this.inputOf(partition) === undefined
  }

  /**
   * Which of the assigned partitions belong to tasks that get everything they read, and which to tasks that do not: the
   * assignment was made for another version of the application, and they have to wait. Unknown topics are left out.
   */
  wholeTasks(
    assigned: readonly TopicPartition[],
    counts: ReadonlyMap<string, number>,
  ): { readonly whole: readonly TopicPartition[]; readonly partial: readonly TopicPartition[] } {
    const has = new TopicPartitionMap(assigned.map(partition => [partition, true] as const))
    const isWhole = ({ topic, partition }: TopicPartition): boolean =>
      (this.#sources.get(topic)?.subtopology.sources ?? [])
        .flatMap(source => source.topics)
        .every(other => partition >= (counts.get(other) ?? 0) || has.has({ topic: other, partition }))
    const known = assigned.filter(({ topic }) => this.knows(topic))
    return { whole: known.filter(isWhole), partial: known.filter(partition => !isWhole(partition)) }
  }

  inputOf({ topic, partition }: TopicPartition): { readonly task: ActiveTask; readonly input: TaskInput } | undefined {
    const place = this.#sources.get(topic)
    if (place === undefined) return undefined
    const task = this.#tasks.get(taskId(place.subtopology.id, partition))
    const input = task?.inputs.find(candidate => candidate.topicPartition.topic === topic)
    return task === undefined || input === undefined ? undefined : { task, input }
  }

  /** Whether the topology reads this topic. */
  knows(topic: string): boolean {
    return this.#sources.has(topic)
  }

  /** Creates the tasks of newly assigned partitions; partitions of one task come together. */
  create(partitions: readonly TopicPartition[]): readonly ActiveTask[] {
    const places = new Map<
      string,
      { readonly subtopology: SubtopologyPlan; readonly partition: number; readonly topics: string[] }
    >()
    for (const { topic, partition } of partitions) {
      const known = this.#sources.get(topic)
      assert(known !== undefined, 'an assigned topic is one we subscribe to', { topic })
      const id = taskId(known.subtopology.id, partition)
      const place = places.get(id) ?? { subtopology: known.subtopology, partition, topics: [] }
      place.topics.push(topic)
      places.set(id, place)
    }
    return [...places].map(([id, { subtopology, partition, topics }]) => {
      assert(!this.#tasks.has(id), 'a task is created once', { id })
      const inputs = topics.map(topic => this.#newInput({ topic, partition }))
      const task = new ActiveTask(
        this.#createTask({ subtopology, partition }),
        { subtopology: subtopology.id, partition },
        inputs,
      )
      this.#tasks.set(id, task)
      return task
    })
  }

  remove(task: ActiveTask): void {
    this.#tasks.delete(task.id)
  }

  #newInput(topicPartition: TopicPartition): TaskInput {
    const known = this.#sources.get(topicPartition.topic)
    assert(known !== undefined, 'an input is a source', { topic: topicPartition.topic })
    return {
      topicPartition,
      source: known.source,
      committed: undefined,
      committedTransaction: undefined,
      rewindTo: 0,
      leaderEpoch: () => -1,
    }
  }
}

/** The name of a task. Kafka Streams: `TaskId`. */
export function taskId(subtopology: number, partition: number): string {
  return `${String(subtopology)}_${String(partition)}`
}
