import { assert } from '../../model/assert.ts'
import { sleep, type Clock } from '../../model/clock.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import { formatTopicPartition, TopicPartitionMap, type TopicPartition } from '../../model/topic-partition.ts'
import { Backoff } from '../cluster/backoff.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { Deadline } from '../cluster/deadline.ts'
import type { GroupMembership } from '../group-membership.ts'
import { reactionTo } from '../error-reactions.ts'
import type { OffsetAndMetadata } from '../offset-and-metadata.ts'
import type { ResponseBodies } from '../protocol/api.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'
import { groupError } from './group-errors.ts'
import { offsetCommitRequests } from './offset-commit-request.ts'
import { offsetFetchAnswers, offsetFetchRequest, type FetchedOffset } from './offset-fetch-request.ts'

const BACK_OFF_FIRST_MS = 2
const BACK_OFF_MAX_MS = 100

/** With less than this left nothing is asked again: a request that runs into its deadline costs the connection. */
const ATTEMPT_MIN_MS = 100

/** The part of a cluster that holds a group's offsets. */
export type OffsetsCluster = Pick<Cluster, 'coordinator' | 'coordinatorCall' | 'connection' | 'forgetCoordinator'>

/** The committed offsets of one group. */
export class GroupOffsets {
  readonly #cluster: OffsetsCluster
  readonly #groupId: string
  readonly #clock: Clock

  constructor(cluster: OffsetsCluster, groupId: string, clock: Clock) {
    this.#cluster = cluster
    this.#groupId = groupId
    this.#clock = clock
  }

  /**
   * The committed offset of each partition, stable (KIP-447): waits while a transaction that carries offsets of it is
   * open or its marker is not written yet. `undefined` means that none was ever committed, never that the question
   * failed.
   *
   * @throws MillraceError `REQUEST_TIMED_OUT` when an offset does not become stable before the deadline, or the code of
   *   the group's refusal
   */
  async fetch(
    partitions: readonly TopicPartition[],
    timeoutMs: number,
  ): Promise<TopicPartitionMap<OffsetAndMetadata | undefined>> {
    const deadline = new Deadline(this.#clock, timeoutMs)
    const backoff = newBackoff()
    const found = new TopicPartitionMap<OffsetAndMetadata | undefined>()
    for (let missing = partitions; missing.length > 0;) {
      const answers = await this.#fetchOnce(missing, deadline)
      missing = missing.filter(topicPartition => !this.#take(topicPartition, answers.get(topicPartition), found))
      const [first] = missing
      if (first === undefined) break
      const delayMs = backoff.next()
      if (deadline.remainingMs <= delayMs + ATTEMPT_MIN_MS) throw this.#unstable(first, answers)
      await sleep(this.#clock, delayMs)
    }
    return found
  }

  /**
   * Commits offsets outside a transaction, on behalf of a member.
   *
   * @returns `rebalancing` when the generation is changing or has changed (27, 22): wait, then call all of it again
   *   with the membership of then
   * @throws MillraceError `MEMBERSHIP_LOST`, `INSTANCE_ID_IN_USE`, `NOT_AUTHORIZED`, `TOPIC_MISSING`, `REQUEST_TIMED_OUT`,
   *   or `KAFKA_ERROR` when a partition's offset is refused
   */
  async commit(
    member: GroupMembership,
    offsets: TopicPartitionMap<OffsetAndMetadata>,
    timeoutMs: number,
  ): Promise<'done' | 'rebalancing'> {
    // The broker accepts these without asking whether a newer owner exists.
    assert(member.generationId >= 0 && member.memberId !== '', 'I5 fencing', { generationId: member.generationId })
    const deadline = new Deadline(this.#clock, timeoutMs)
    for (const request of offsetCommitRequests(this.#groupId, member, offsets)) {
      const answer = await this.#commitOnce(request, deadline)
      const codes = codesOf(answer)
      if (codes.length < partitionCount(request)) {
        throw new MillraceError('PROTOCOL_VIOLATION', {
          what: 'OffsetCommit was answered without all of its partitions.',
        })
      }
      const refusal = worst(codes)
      if (refusal === undefined) continue
      if (REBALANCING.has(refusal.errorCode)) return 'rebalancing'
      throw this.#commitRefused(refusal, member)
    }
    return 'done'
  }

  async #fetchOnce(
    partitions: readonly TopicPartition[],
    deadline: Deadline,
  ): Promise<TopicPartitionMap<FetchedOffset>> {
    const version = await this.#version(deadline)
    const answer = await this.#cluster.coordinatorCall(
      'group',
      this.#groupId,
      'OffsetFetch',
      offsetFetchRequest(this.#groupId, partitions, version),
      {
        purpose: 'coordinator',
        version,
        timeoutMs: Math.max(deadline.remainingMs, 1),
        retryLost: true,
        errorCodesOf: body => [body.errorCode, ...body.groups.map(group => group.errorCode)],
      },
    )
    const { errorCode, offsets } = offsetFetchAnswers(this.#groupId, answer)
    if (errorCode !== ERROR_CODE.NONE) throw this.#fetchRefused(errorCode)
    return offsets
  }

  /** Keeps an answer; false when it has to be asked again. */
  #take(
    topicPartition: TopicPartition,
    answer: FetchedOffset | undefined,
    found: TopicPartitionMap<OffsetAndMetadata | undefined>,
  ): boolean {
    if (answer === undefined) {
      throw new MillraceError('PROTOCOL_VIOLATION', {
        ...topicPartition,
        what: `OffsetFetch of group ${JSON.stringify(this.#groupId)} was answered without this partition.`,
      })
    }
    if (answer.errorCode !== ERROR_CODE.NONE) {
      if (reactionTo(answer.errorCode, 'offsetCommit') === 'retry') return false
      throw withPlace(this.#fetchRefused(answer.errorCode), topicPartition)
    }
    // −1 with code 0, and only that, says that nothing was committed.
    const { offset, leaderEpoch, metadata } = answer
    found.set(topicPartition, offset < 0 ? undefined : { offset, leaderEpoch, metadata })
    return true
  }

  #unstable(first: TopicPartition, answers: TopicPartitionMap<FetchedOffset>): MillraceError {
    const kafkaCode = answers.get(first)?.errorCode ?? ERROR_CODE.UNSTABLE_OFFSET_COMMIT
    return new MillraceError('REQUEST_TIMED_OUT', {
      ...first,
      kafkaCode,
      what:
        kafkaCode === ERROR_CODE.UNSTABLE_OFFSET_COMMIT
          ? `the offset in group ${JSON.stringify(this.#groupId)} is still part of an open transaction`
          : `the offset in group ${JSON.stringify(this.#groupId)} could not be read (${kafkaErrorName(kafkaCode)})`,
    })
  }

  /** One OffsetCommit; again while a topic is unknown to a broker that has just started, until the deadline. */
  async #commitOnce(
    request: ReturnType<typeof offsetCommitRequests>[number],
    deadline: Deadline,
  ): Promise<ResponseBodies['OffsetCommit']> {
    const backoff = newBackoff()
    for (;;) {
      const answer = await this.#cluster.coordinatorCall('group', this.#groupId, 'OffsetCommit', request, {
        purpose: 'coordinator',
        timeoutMs: Math.max(deadline.remainingMs, 1),
        retryLost: true,
        errorCodesOf: body => codesOf(body).map(({ errorCode }) => errorCode),
      })
      const refusal = worst(codesOf(answer))
      const delayMs = backoff.next()
      if (refusal === undefined || !RETRIED_COMMIT.has(refusal.errorCode) || deadline.remainingMs <= delayMs)
        return answer
      await sleep(this.#clock, delayMs)
    }
  }

  #commitRefused({ errorCode, ...topicPartition }: PartitionCode, member: GroupMembership): MillraceError {
    if (errorCode === ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION) {
      return new MillraceError('TOPIC_MISSING', { ...topicPartition, kafkaCode: errorCode })
    }
    if (errorCode === ERROR_CODE.OFFSET_METADATA_TOO_LARGE) {
      return new MillraceError('KAFKA_ERROR', {
        ...topicPartition,
        kafkaCode: errorCode,
        what: 'the metadata of the offset is larger than the broker takes (OFFSET_METADATA_TOO_LARGE)',
        action: "Raise the broker's `offset.metadata.max.bytes`.",
      })
    }
    const { groupInstanceId } = member
    const error = groupError(errorCode, { call: 'OffsetCommit', groupId: this.#groupId, groupInstanceId })
    return error.code === 'KAFKA_ERROR' || error.code === 'NOT_AUTHORIZED' ? withPlace(error, topicPartition) : error
  }

  /** The form of the request depends on the version, so the coordinator's is looked up first. */
  async #version(deadline: Deadline): Promise<number> {
    const backoff = newBackoff()
    for (;;) {
      const failure = await this.#versionOnce(deadline).catch(asMillraceError)
      if (typeof failure === 'number') return failure
      const delayMs = backoff.next()
      if (failure.reaction === 'stop' || deadline.remainingMs <= delayMs) throw failure
      this.#cluster.forgetCoordinator('group', this.#groupId)
      await sleep(this.#clock, delayMs)
    }
  }

  async #versionOnce(deadline: Deadline): Promise<number> {
    const coordinator = await this.#cluster.coordinator('group', this.#groupId, Math.max(deadline.remainingMs, 1))
    const connection = await this.#cluster.connection(coordinator, 'coordinator')
    const version = connection.apiVersions.best('OffsetFetch')
    if (version === undefined) throw this.#fetchRefused(ERROR_CODE.UNSUPPORTED_VERSION)
    return version
  }

  #fetchRefused(errorCode: number): MillraceError {
    return groupError(errorCode, { call: 'OffsetFetch', groupId: this.#groupId, groupInstanceId: null })
  }
}

function newBackoff(): Backoff {
  return new Backoff(BACK_OFF_FIRST_MS, BACK_OFF_MAX_MS, NO_JITTER)
}

const NO_JITTER = (): number => 0.5

interface PartitionCode extends TopicPartition {
  readonly errorCode: number
}

const REBALANCING: ReadonlySet<number> = new Set([ERROR_CODE.REBALANCE_IN_PROGRESS, ERROR_CODE.ILLEGAL_GENERATION])

const RETRIED_COMMIT: ReadonlySet<number> = new Set([ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION])

function codesOf(answer: ResponseBodies['OffsetCommit']): readonly PartitionCode[] {
  return answer.topics.flatMap(({ name, partitions }) =>
    partitions.map(({ partitionIndex, errorCode }) => ({ topic: name, partition: partitionIndex, errorCode })),
  )
}

/** The refusal to act on: one that a new call cannot clear comes before one that it can. */
function worst(codes: readonly PartitionCode[]): PartitionCode | undefined {
  const refusals = codes.filter(({ errorCode }) => errorCode !== ERROR_CODE.NONE)
  const isMild = ({ errorCode }: PartitionCode): boolean => REBALANCING.has(errorCode) || RETRIED_COMMIT.has(errorCode)
  return refusals.find(refusal => !isMild(refusal)) ?? refusals[0]
}

function partitionCount(request: ReturnType<typeof offsetCommitRequests>[number]): number {
  return request.topics.reduce((count, { partitions }) => count + partitions.length, 0)
}

function withPlace(error: MillraceError, topicPartition: TopicPartition): MillraceError {
  return new MillraceError(error.code, {
    ...error.details,
    ...topicPartition,
    what: `${error.details.what ?? error.message} (${formatTopicPartition(topicPartition)})`,
  })
}
