import type { Clock } from '../model/clock.ts'
import type { Fetcher, FetchedBlock } from '../kafka/fetcher/fetcher.ts'
import type { ActiveTask, TaskInput } from './active-task.ts'
import { UnresolvedTopic } from './record-collector.ts'
import type { ThreadMetrics } from './thread-metrics.ts'
import type { AdmittedBlock, CommitStrategy } from './commit-strategy.ts'

/** A chunk ends after that long: commits, heartbeats, acknowledgements and timers wait behind it. */
const CHUNK_MS_MAX = 10
const CHUNK_RECORDS_MAX = 1_024
/**
 * Records between two looks at the clock. Bounds what steps that turn slow can hold up before it is noticed (case 31):
 * with more, a fetch of slow records would outlive its transaction again and again.
 */
const BURST_RECORDS_MAX = 16

/** A block on its way to the task that reads the input. */
interface FedBlock {
  readonly task: ActiveTask
  readonly input: TaskInput
  readonly block: FetchedBlock
}

/** Hands fetched blocks to tasks and lets them process a chunk at a time. Kafka Streams: `TaskExecutor`. */
export class TaskExecutor {
  readonly #fetcher: Pick<Fetcher, 'take'>
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #strategy: CommitStrategy
  readonly #metrics: Pick<ThreadMetrics, 'taken' | 'latency'>
  #burstRecords = 1
  #unresolvedTopic: string | undefined
  /** Blocks whose offsets could not be given away yet: nobody fetches them again, so they are offered again. */
  #unadmitted: readonly FedBlock[] = []

  constructor(parts: {
    readonly fetcher: Pick<Fetcher, 'take'>
    readonly clock: Pick<Clock, 'nowMs'>
    readonly strategy: CommitStrategy
    readonly metrics: Pick<ThreadMetrics, 'taken' | 'latency'>
  }) {
    this.#fetcher = parts.fetcher
    this.#clock = parts.clock
    this.#strategy = parts.strategy
    this.#metrics = parts.metrics
  }

  /** Moves prefetched blocks into empty queues. A promise only where the strategy has to commit before they may be processed. */
  feed(tasks: readonly ActiveTask[]): Promise<void> | undefined {
    const blocks = this.#unadmitted.filter(isStillDue)
    for (const task of tasks) {
      for (const input of task.inputs) {
        if (task.task.queued(input.topicPartition.topic) || blocks.some(waiting => waiting.input === input)) continue
        const block = this.#fetcher.take(input.topicPartition)
        if (block !== undefined) blocks.push({ task, input, block })
      }
    }
    this.#unadmitted = NO_BLOCKS
    if (blocks.length === 0) return undefined
    const admission = this.#strategy.admit(blocks.map(admittedBlock))
    if (admission === undefined) {
      this.#enqueue(blocks)
      return undefined
    }
    return admission.then(
      () => this.#enqueue(blocks),
      (error: unknown) => {
        this.#unadmitted = blocks
        throw error
      },
    )
  }

  #enqueue(blocks: readonly FedBlock[]): void {
    for (const { task, input, block } of blocks) {
      input.leaderEpoch = () => block.cursor.batchLeaderEpoch
      task.task.enqueue(input.topicPartition.topic, block.cursor)
      this.#metrics.taken(input.topicPartition.topic, block.bytes)
    }
  }

  /** Runs the wall-clock punctuations that are due. */
  punctuate(tasks: readonly ActiveTask[]): void {
    for (const { task } of tasks) {
      try {
        task.punctuate()
      } catch (thrown) {
        this.#noteUnresolved(thrown)
      }
    }
  }

  /** A topic that a step chose and nobody has looked up; what waits for it is done again afterwards. */
  takeUnresolvedTopic(): string | undefined {
    const topic = this.#unresolvedTopic
    this.#unresolvedTopic = undefined
    return topic
  }

  /**
   * One chunk of every task, and at most `recordsMax` records in all, of which each task has its part. Returns how many
   * input records were processed.
   */
  process(tasks: readonly ActiveTask[], recordsMax: number): number {
    // Records come behind the punctuation that waits.
    if (this.#unresolvedTopic !== undefined) return 0
    const chunkRecordsMax = Math.min(CHUNK_RECORDS_MAX, Math.max(1, Math.floor(recordsMax / tasks.length)))
    let processed = 0
    for (const { task } of tasks) {
      if (processed >= recordsMax) break
      processed += this.#processChunk(task, chunkRecordsMax)
    }
    return processed
  }

  #processBurst(task: ActiveTask['task'], recordsMax: number): number {
    try {
      return task.process(recordsMax)
    } catch (thrown) {
      this.#noteUnresolved(thrown)
      return 0
    }
  }

  /** Notes a topic to be looked up, so that what other tasks have done is told all the same; throws anything else. */
  #noteUnresolved(thrown: unknown): void {
    if (!(thrown instanceof UnresolvedTopic)) throw thrown
    this.#unresolvedTopic = thrown.topic
  }

  #processChunk(task: ActiveTask['task'], recordsMax: number): number {
    let processed = 0
    let atMs = this.#clock.nowMs()
    const endMs = atMs + CHUNK_MS_MAX
    while (processed < recordsMax && atMs < endMs) {
      const burst = this.#burstRecords
      const wanted = Math.min(burst, recordsMax - processed)
      const records = this.#processBurst(task, wanted)
      processed += records
      if (records > 0) this.#metrics.latency.processed(task.recordTimeMs)
      const startedMs = atMs
      atMs = this.#clock.nowMs()
      if (atMs - startedMs > CHUNK_MS_MAX) this.#burstRecords = Math.max(1, burst >> 1)
      if (records < wanted) break
      if (atMs - startedMs <= CHUNK_MS_MAX) this.#burstRecords = Math.min(BURST_RECORDS_MAX, burst << 1)
    }
    return processed
  }
}

const NO_BLOCKS: readonly FedBlock[] = []

/** Whether a block waits for its task: that one may be closed, or reading may have jumped over deleted records. */
function isStillDue({ task, input, block }: FedBlock): boolean {
  return task.state === 'running' && block.endOffset > input.rewindTo
}

function admittedBlock({ input, block }: FedBlock): AdmittedBlock {
  return { topicPartition: input.topicPartition, endOffset: block.endOffset }
}
