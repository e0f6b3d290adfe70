import type { Clock } from '../model/clock.ts'
import { sleep } from '../model/clock.ts'
import { crashPoint } from '../model/crash-point.ts'
import { MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { assert } from '../model/assert.ts'
import type { TopicPartitionMap } from '../model/topic-partition.ts'
import type { GroupMember } from '../kafka/group/group-member.ts'
import type { GroupOffsets } from '../kafka/group/group-offsets.ts'
import type { GroupMembership } from '../kafka/group-membership.ts'
import type { OffsetAndMetadata } from '../kafka/offset-and-metadata.ts'
import type { Producer } from '../kafka/producer/producer.ts'
import type { ActiveTask } from './active-task.ts'
import type { AssignmentClaims } from './assignment-claims.ts'
import { offsetsToCommit, readProgress } from './commit-offsets.ts'
import type { CommitOutcome } from './commit-strategy.ts'
import { flushTasks, type TopicResolver } from './task-flush.ts'

/** What a commit cycle works on; all of one stream thread. */
export interface CommitParts {
  readonly applicationId: string
  readonly clock: Clock
  readonly producer: Pick<
    Producer,
    'flush' | 'transaction' | 'sendOffsets' | 'commitTransaction' | 'refence' | 'abortTransaction'
  >
  readonly member: Pick<GroupMember, 'membership' | 'joinOutstanding'>
  readonly offsets: Pick<GroupOffsets, 'fetch' | 'commit'>
  readonly claims: AssignmentClaims
  readonly logger: Logger
  /** Whether the thread is to stop: whatever is unknown then is left to the next start. */
  readonly stopRequested: () => boolean
  /** How long the next step may wait; less where the thread is to stop. */
  readonly stepTimeoutMs: () => number
  /** The running tasks. */
  readonly tasks: () => readonly ActiveTask[]
  /** Looks up topics that held-back results choose for the first time. */
  readonly resolveTopic: TopicResolver
  /** A number unique to the next transaction. */
  readonly nextTransaction: () => number
  /** Epoch of the claims when the first uncommitted work began; `undefined` while there is none. */
  readonly workEpoch: () => number | undefined
}

/**
 * Makes one commit interval visible, or none of it (I3). The order of the steps is the guarantee; each says what breaks
 * without it. Step 1, that a commit is due, is the loop's (commit-schedule.ts).
 *
 * @throws MillraceError whose reaction says what must happen next; nothing is visible then, or its outcome was read back
 */
export async function runCommitCycle(parts: CommitParts): Promise<CommitOutcome> {
  const { producer, claims } = parts
  const tasks = parts.tasks()

  // 2. Emissions and changelog records that the interval still owes, into batches.
  await flushTasks(tasks, parts.resolveTopic)

  // 3. All of it acknowledged. A Produce still in flight at EndTxn would join the next transaction (I9, F19).
  await producer.flush(parts.stepTimeoutMs())
  if (producer.transaction.ongoing) crashPoint('flush:done')

  const transaction = parts.nextTransaction()
  const owing = tasks.filter(task => task.owesCommit)
  const offsets = offsetsToCommit(owing, transaction)
  if (offsets.size === 0) {
    assert(!producer.transaction.ongoing, 'I5 fencing', { reason: 'a transaction without an offset commit' })
    return 'nothing'
  }

  // 4. Offsets after all acknowledgements, on behalf of this generation: the group fences a zombie here (I5).
  const workEpoch = parts.workEpoch()
  assert(workEpoch === undefined || workEpoch === claims.epoch, 'I5 fencing', { workEpoch, epoch: claims.epoch })
  claims.assertClaimed(offsets.keys())
  await sendOffsets(parts, offsets)

  // 5. The moment of durability is the broker's answer. Without one the group's metadata decides, never a guess (I10).
  const positions = new Map(owing.map(task => [task, positionsOf(task, offsets)] as const))
  const answer = await producer.commitTransaction(parts.stepTimeoutMs())
  if (answer === 'unknown' && (await resolveUnknown(parts, { owing, offsets, transaction })) === 'aborted') {
    throw new MillraceError('TRANSACTION_ABORTED', {
      what: 'EndTxn got no answer, and the group shows that it did not commit.',
    })
  }
  crashPoint('commit:beforeApply')

  // 6. Only now do stores and positions follow: a store is never ahead of Kafka (I11).
  for (const task of owing) {
    const positionOf = positions.get(task)
    assert(positionOf !== undefined, 'I2 tiling', { task: task.id })
    task.committed(positionOf, transaction)
  }
  crashPoint('commit:applied')
  return 'committed'
}

/** Positions as they were sent: what the broker acknowledged, whatever has been read meanwhile. */
function positionsOf(task: ActiveTask, offsets: TopicPartitionMap<OffsetAndMetadata>): ActiveTask['positionOf'] {
  return input => {
    const sent = offsets.get(input.topicPartition)
    assert(sent !== undefined, 'I2 tiling', { task: task.id, topic: input.topicPartition.topic })
    return sent.offset
  }
}

/** Step 4, again with the new generation where our own JoinGroup was answered meanwhile (docs/design.md, "A rebalance", step 3). */
async function sendOffsets(parts: CommitParts, offsets: TopicPartitionMap<OffsetAndMetadata>): Promise<void> {
  let membership = parts.member.membership
  if (membership === undefined)
    throw new MillraceError('MEMBERSHIP_LOST', { what: 'The thread is not a member of the group.' })
  while (
    (await parts.producer.sendOffsets(parts.applicationId, membership, offsets, parts.stepTimeoutMs())) !== 'done'
  ) {
    membership = await generationAfter(parts, membership)
  }
}

/** Waits for the JoinGroup answer that made `refused` an old generation. */
async function generationAfter(parts: CommitParts, refused: GroupMembership): Promise<GroupMembership> {
  const deadlineMs = parts.clock.nowMs() + parts.stepTimeoutMs()
  for (;;) {
    const membership = parts.member.membership
    if (membership === undefined) break
    if (membership.generationId !== refused.generationId && membership.memberId === refused.memberId) return membership
    if (!parts.member.joinOutstanding || parts.clock.nowMs() > deadlineMs) break
    await sleep(parts.clock, GENERATION_POLL_MS)
  }
  throw new MillraceError('MEMBERSHIP_LOST', {
    what: `The group refused generation ${String(refused.generationId)} and has given this member no other.`,
  })
}

/** The answer is under way when this is called; a look every few milliseconds costs nothing. */
const GENERATION_POLL_MS = 2

interface Unknown {
  readonly owing: readonly ActiveTask[]
  readonly offsets: TopicPartitionMap<OffsetAndMetadata>
  readonly transaction: number
}

/**
 * Reads back what became of an EndTxn without an answer, however long that takes: until it is known, nothing may be
 * aborted and nothing begun (I10). Only what drops the tasks or ends the thread gets out of here: an abort would take
 * them back to offsets that may be the old ones.
 */
async function resolveUnknown(parts: CommitParts, commit: Unknown): Promise<'committed' | 'aborted'> {
  for (let backOffMs = RESOLVE_BACKOFF_MS_MIN; ; backOffMs = Math.min(backOffMs * 2, RESOLVE_BACKOFF_MS_MAX)) {
    try {
      const outcome = await readOutcome(parts, commit)
      parts.logger.warn({ outcome }, 'a commit had no answer; the group was asked what became of it')
      return outcome
    } catch (error) {
      if (!(error instanceof MillraceError) || isDecisive(error)) throw error
      if (parts.stopRequested()) throw new MillraceError('COMMIT_OUTCOME_UNKNOWN', { cause: error })
      parts.logger.warn({ err: error }, 'the outcome of a commit is still unknown; asking again')
      await sleep(parts.clock, backOffMs)
    }
  }
}

const RESOLVE_BACKOFF_MS_MIN = 100
const RESOLVE_BACKOFF_MS_MAX = 2_000

/** Whether the failure settles what happens to the tasks, whatever became of the commit. */
function isDecisive({ code, reaction }: MillraceError): boolean {
  return reaction === 'rejoin' || (reaction === 'stop' && code !== 'BROKER_UNREACHABLE')
}

/**
 * InitProducerId first: it fences the late request, so that the answer cannot change afterwards. Then only the committed
 * metadata decides.
 */
async function readOutcome(
  parts: CommitParts,
  { owing, offsets, transaction }: Unknown,
): Promise<'committed' | 'aborted'> {
  if ((await parts.producer.refence(parts.stepTimeoutMs())) === 'fenced') {
    throw new MillraceError('PRODUCER_FENCED', {
      what: 'Another owner of the transactional id appeared while a commit had no answer.',
    })
  }
  const stable = await parts.offsets.fetch([...offsets.keys()], parts.stepTimeoutMs())
  const seen = new Set<'committed' | 'aborted' | 'foreign'>()
  for (const task of owing) {
    for (const input of task.inputs) {
      const now = stable.get(input.topicPartition)
      const transactionNow = now === undefined ? undefined : readProgress(now).transaction
      if (transactionNow === transaction) seen.add('committed')
      else
        seen.add(
          transactionNow === input.committedTransaction && now?.offset === input.committed ? 'aborted' : 'foreign',
        )
    }
  }
  const [only] = seen
  if (seen.size === 1 && only !== undefined && only !== 'foreign') return only
  throw new MillraceError('MEMBERSHIP_LOST', {
    what: 'A commit had no answer, and the group holds offsets of neither this transaction nor the one before.',
  })
}
