import type { Clock } from '../model/clock.ts'
import type { Fetcher, FetchedBlock } from '../kafka/fetcher/fetcher.ts'
import type { ActiveTask, TaskInput } from './active-task.ts'
import type { AdmittedBlock, CommitStrategy } from './commit-strategy.ts'

/** A chunk that took longer is halved: acknowledgements, heartbeats and timers wait behind it. */
const CHUNK_MS_MAX = 10
const CHUNK_RECORDS_MAX = 1_024

/** Hands fetched blocks to tasks and lets them process a chunk at a time. Kafka Streams: `TaskExecutor`. */
export class TaskExecutor {
  readonly #fetcher: Pick<Fetcher, 'take'>
  readonly #clock: Clock
  readonly #strategy: CommitStrategy
  #chunkRecords = CHUNK_RECORDS_MAX

  constructor(parts: {
    readonly fetcher: Pick<Fetcher, 'take'>
    readonly clock: Clock
    readonly strategy: CommitStrategy
  }) {
    this.#fetcher = parts.fetcher
    this.#clock = parts.clock
    this.#strategy = parts.strategy
  }

  /** Moves prefetched blocks into empty queues. A promise only where the strategy has to commit before they may be processed. */
  feed(tasks: readonly ActiveTask[]): Promise<void> | undefined {
    let admitted: { readonly task: ActiveTask; readonly input: TaskInput; readonly block: FetchedBlock }[] | undefined
    for (const task of tasks) {
      for (const input of task.inputs) {
        if (task.task.queued(input.topicPartition.topic)) continue
        const block = this.#fetcher.take(input.topicPartition)
        if (block === undefined) continue
        admitted ??= []
        admitted.push({ task, input, block })
      }
    }
    if (admitted === undefined) return undefined
    const blocks = admitted
    const enqueue = (): void => {
      for (const { task, input, block } of blocks) {
        input.leaderEpoch = () => block.cursor.batchLeaderEpoch
        task.task.enqueue(input.topicPartition.topic, block.cursor)
      }
    }
    const admission = this.#strategy.admit(blocks.map(admittedBlock))
    if (admission !== undefined) return admission.then(enqueue)
    enqueue()
    return undefined
  }

  /** One chunk of every task. Returns how many input records were processed. */
  process(tasks: readonly ActiveTask[]): number {
    let processed = 0
    for (const { task } of tasks) {
      const startedMs = this.#clock.nowMs()
      const records = task.process(this.#chunkRecords)
      processed += records
      if (records === 0) continue
      const tookMs = this.#clock.nowMs() - startedMs
      if (tookMs > CHUNK_MS_MAX) this.#chunkRecords = Math.max(1, this.#chunkRecords >> 1)
      else if (records === this.#chunkRecords) this.#chunkRecords = Math.min(CHUNK_RECORDS_MAX, this.#chunkRecords << 1)
    }
    return processed
  }
}

function admittedBlock({ input, block }: { readonly input: TaskInput; readonly block: FetchedBlock }): AdmittedBlock {
  return { topicPartition: input.topicPartition, endOffset: block.endOffset }
}
