import type { MillraceError } from '../model/errors.ts'
import { TopicPartitionMap } from '../model/topic-partition.ts'
import type { OffsetAndMetadata } from '../kafka/offset-and-metadata.ts'
import { commitOffsets } from './at-least-once-strategy.ts'
import type { CommitParts } from './commit-cycle.ts'
import type { AdmittedBlock, CommitOutcome, CommitReason, CommitStrategy } from './commit-strategy.ts'

/** Records of a task between two looks at the clock when it stops. */
const LAST_RECORDS = 16

/**
 * Offsets first, then processing: nothing happens twice, some records are lost. Kafka Streams has no such mode. There are
 * no stores under it (`STORE_NOT_ALLOWED`), so nothing has to be rolled back.
 */
export class AtMostOnceStrategy implements CommitStrategy {
  readonly guarantee = 'at_most_once'
  readonly #parts: CommitParts

  constructor(parts: CommitParts) {
    this.#parts = parts
  }

  /** Gives the offsets of the blocks away before one of their records is processed. */
  admit(blocks: readonly AdmittedBlock[]): Promise<void> | undefined {
    if (blocks.length === 0) return undefined
    const offsets = new TopicPartitionMap<OffsetAndMetadata>()
    for (const { topicPartition, endOffset } of blocks)
      offsets.set(topicPartition, { offset: endOffset, leaderEpoch: -1, metadata: '' })
    this.#parts.claims.assertClaimed(offsets.keys())
    return commitOffsets(this.#parts, offsets)
  }

  async commit(reason: CommitReason): Promise<CommitOutcome> {
    const { producer, stepTimeoutMs } = this.#parts
    if (reason === 'shutdown') await this.#finishAdmitted()
    const owing = this.#parts.tasks().filter(task => task.owesCommit)
    for (const task of owing) task.task.flush()
    await producer.flush(stepTimeoutMs())
    for (const task of owing) task.committed(input => task.positionOf(input), 0)
    return owing.length === 0 ? 'nothing' : 'committed'
  }

  /** What was given away is processed before a stop, as far as the time allows: nobody else will. */
  async #finishAdmitted(): Promise<void> {
    const { clock, stepTimeoutMs } = this.#parts
    const untilMs = clock.nowMs() + stepTimeoutMs() / 2
    for (const { task, inputs } of this.#parts.tasks()) {
      const isLeft = (): boolean => inputs.some(({ topicPartition }) => task.queued(topicPartition.topic))
      while (isLeft() && clock.nowMs() < untilMs && task.process(LAST_RECORDS) > 0) await clock.yieldToIo()
    }
  }

  /** Never rewinds: what was given away is not processed again. */
  async abort(_cause: MillraceError): Promise<void> {
    await this.#parts.producer.abortTransaction(this.#parts.stepTimeoutMs())
  }
}
