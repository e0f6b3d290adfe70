import { sleep, type Clock } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import type { TopicPartitionMap } from '../model/topic-partition.ts'
import type { OffsetAndMetadata } from '../kafka/offset-and-metadata.ts'
import type { GroupMember } from '../kafka/group/group-member.ts'
import type { GroupOffsets } from '../kafka/group/group-offsets.ts'
import type { CommitParts } from './commit-cycle.ts'
import { offsetsToCommit } from './commit-offsets.ts'
import type { CommitOutcome, CommitStrategy } from './commit-strategy.ts'
import type { InputRewinder } from './input-rewinder.ts'
import { flushTasks } from './task-flush.ts'

/** Flush, then offsets: nothing is lost, some effects happen twice. Kafka Streams: `at_least_once`. */
export class AtLeastOnceStrategy implements CommitStrategy {
  readonly guarantee = 'at_least_once'
  readonly #parts: CommitParts
  readonly #rewinder: InputRewinder

  constructor(parts: CommitParts, rewinder: InputRewinder) {
    this.#parts = parts
    this.#rewinder = rewinder
  }

  admit(): undefined {
    return undefined
  }

  async commit(): Promise<CommitOutcome> {
    const { producer, stepTimeoutMs } = this.#parts
    const tasks = this.#parts.tasks()
    await flushTasks(tasks, this.#parts.resolveTopic)
    // Outputs before offsets: the other way round a crash between the two would lose records.
    await producer.flush(stepTimeoutMs())
    const commit = this.#parts.nextTransaction()
    const owing = tasks.filter(task => task.owesCommit)
    const offsets = offsetsToCommit(owing, commit)
    if (offsets.size === 0) return 'nothing'
    this.#parts.claims.assertClaimed(offsets.keys())
    await commitOffsets(this.#parts, offsets)
    for (const task of owing)
      task.committed(input => offsets.get(input.topicPartition)?.offset ?? input.rewindTo, commit)
    return 'committed'
  }

  async abort(_cause: MillraceError): Promise<void> {
    await this.#parts.producer.abortTransaction(this.#parts.stepTimeoutMs())
    this.#rewinder.rewind(this.#parts.tasks())
  }
}

interface OffsetCommitParts {
  readonly clock: Clock
  readonly member: Pick<GroupMember, 'membership'>
  readonly offsets: Pick<GroupOffsets, 'commit'>
  readonly stepTimeoutMs: () => number
}

/** OffsetCommit, waiting out the window between JoinGroup and SyncGroup in which the broker answers 27. */
export async function commitOffsets(
  parts: OffsetCommitParts,
  offsets: TopicPartitionMap<OffsetAndMetadata>,
): Promise<void> {
  const deadlineMs = parts.clock.nowMs() + parts.stepTimeoutMs()
  for (;;) {
    const membership = parts.member.membership
    if (membership === undefined)
      throw new MillraceError('MEMBERSHIP_LOST', { what: 'The thread is not a member of the group.' })
    if ((await parts.offsets.commit(membership, offsets, parts.stepTimeoutMs())) === 'done') return
    if (parts.clock.nowMs() > deadlineMs) {
      throw new MillraceError('REQUEST_TIMED_OUT', {
        what: 'The group did not finish its rebalance, so offsets could not be committed.',
      })
    }
    await sleep(parts.clock, REBALANCE_POLL_MS)
  }
}

/** SyncGroup follows JoinGroup within milliseconds. */
const REBALANCE_POLL_MS = 10
