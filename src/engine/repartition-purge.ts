import type { Logger } from '../model/logger.ts'
import { asMillraceError } from '../model/errors.ts'
import { TopicPartitionMap } from '../model/topic-partition.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import type { ActiveTask } from './active-task.ts'

/** Where records are deleted, and how often. */
export interface RepartitionPurgeOptions {
  readonly admin: Pick<Admin, 'deleteRecords'>
  readonly logger: Logger
  readonly intervalMs: number
}

/**
 * Deletes what is processed from repartition topics, up to the last acknowledged commit: never up to the position, which
 * an abort takes back. Kafka Streams: `repartition.purge.interval.ms`.
 */
export class RepartitionPurge {
  readonly #options: RepartitionPurgeOptions
  readonly #purged = new TopicPartitionMap<number>()
  #lastMs: number
  #running = false

  constructor(options: RepartitionPurgeOptions, nowMs: number) {
    this.#options = options
    this.#lastMs = nowMs
  }

  /** Called right after an acknowledged commit. Runs beside the loop; a failed purge is tried again at the next one. */
  afterCommit(tasks: readonly ActiveTask[], nowMs: number): void {
    if (this.#running || nowMs - this.#lastMs < this.#options.intervalMs) return
    this.#lastMs = nowMs
    const offsets = new TopicPartitionMap<number>()
    for (const { inputs } of tasks) {
      for (const { source, topicPartition, committed } of inputs) {
        if (!source.internal || committed === undefined) continue
        if (committed > (this.#purged.get(topicPartition) ?? 0)) offsets.set(topicPartition, committed)
      }
    }
    if (offsets.size === 0) return
    this.#running = true
    void this.#purge(offsets)
  }

  async #purge(offsets: TopicPartitionMap<number>): Promise<void> {
    try {
      await this.#options.admin.deleteRecords(offsets)
      for (const [partition, offset] of offsets) this.#purged.set(partition, offset)
    } catch (error) {
      this.#options.logger.warn(
        { err: asMillraceError(error) },
        'processed records of repartition topics could not be deleted; tried again later',
      )
    } finally {
      this.#running = false
    }
  }
}
