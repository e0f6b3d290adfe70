import { crashPoint } from '../../model/crash-point.ts'
import { MillraceError } from '../../model/errors.ts'
import type { TopicPartitionMap } from '../../model/topic-partition.ts'
import type { Deadline } from '../cluster/deadline.ts'
import { reactionTo } from '../error-reactions.ts'
import type { GroupMembership } from '../group-membership.ts'
import type { OffsetAndMetadata } from '../offset-and-metadata.ts'
import type { ResponseBodies } from '../protocol/api.ts'
import { type OffsetTopic, splitOffsets } from '../offset-splitting.ts'
import { brokerFailure } from './producer-failure.ts'
import type { ProducerIdentity } from './producer-identity.ts'
import type { TransactionCalls } from './transaction-calls.ts'
import { spokenVersions } from './transaction-versions.ts'

/** Settings of `TransactionOffsets`. */
export interface TransactionOffsetsOptions {
  readonly calls: TransactionCalls
  readonly identity: ProducerIdentity
  readonly transactionalId: string
  /** A request got no answer. */
  readonly onLost: () => void
}

/** Puts consumed offsets into the open transaction, on behalf of a generation of the group (KIP-447). */
export class TransactionOffsets {
  readonly #options: TransactionOffsetsOptions
  /** Groups that protocol 1 has added to the open transaction. */
  readonly #groups = new Set<string>()

  constructor(options: TransactionOffsetsOptions) {
    this.#options = options
  }

  /** Forgets what the transaction before knew. */
  restart(): void {
    this.#groups.clear()
  }

  /**
   * Sends the offsets, in several requests where one would be too large.
   *
   * @throws MillraceError or CallFailure
   */
  async send(
    groupId: string,
    member: GroupMembership,
    offsets: TopicPartitionMap<OffsetAndMetadata>,
    deadline: Deadline,
  ): Promise<'done' | 'illegalGeneration'> {
    if (this.#options.identity.protocol === 1) await this.#addOffsets(groupId, deadline)
    for (const topics of splitOffsets(groupId, offsets)) {
      const answer = await this.#commitOffsets(groupId, member, topics, deadline)
      if (answer === 'illegalGeneration') return answer
    }
    return 'done'
  }

  async #addOffsets(groupId: string, deadline: Deadline): Promise<void> {
    if (this.#groups.has(groupId)) return
    const { calls, transactionalId, identity } = this.#options
    const { producerId, epoch } = identity.stamp
    const { answer } = await calls.call({
      route: { kind: 'transaction', id: transactionalId },
      api: 'AddOffsetsToTxn',
      versions: spokenVersions(1, 'AddOffsetsToTxn'),
      body: { transactionalId, producerId, producerEpoch: epoch, groupId },
      callKind: 'transaction',
      deadline,
      resendsLost: true,
      codesOf: ({ errorCode }) => [errorCode],
      onLost: () => {
        this.#options.onLost()
      },
    })
    if (answer.errorCode !== 0)
      throw brokerFailure(answer.errorCode, 'transaction', `AddOffsetsToTxn of transactional id ${transactionalId}`)
    crashPoint('addOffsets:answered')
    this.#groups.add(groupId)
  }

  async #commitOffsets(
    groupId: string,
    member: GroupMembership,
    topics: readonly OffsetTopic[],
    deadline: Deadline,
  ): Promise<'done' | 'illegalGeneration'> {
    const { calls, transactionalId, identity } = this.#options
    const { producerId, epoch } = identity.stamp
    const { answer } = await calls.call({
      route: { kind: 'group', id: groupId },
      api: 'TxnOffsetCommit',
      versions: spokenVersions(identity.protocol, 'TxnOffsetCommit'),
      body: {
        transactionalId,
        groupId,
        producerId,
        producerEpoch: epoch,
        generationIdOrMemberEpoch: member.generationId,
        memberId: member.memberId,
        groupInstanceId: member.groupInstanceId,
        topics,
      },
      callKind: 'offsetCommit',
      deadline,
      resendsLost: true,
      codesOf: response => response.topics.flatMap(topic => topic.partitions.map(partition => partition.errorCode)),
      onLost: () => {
        this.#options.onLost()
      },
    })
    crashPoint('txnOffsetCommit:answered')
    return this.#judgeOffsets(groupId, answer, topics)
  }

  /** Looks at every partition: one may be refused while EndTxn would commit the others. */
  #judgeOffsets(
    groupId: string,
    answer: ResponseBodies['TxnOffsetCommit'],
    topics: readonly OffsetTopic[],
  ): 'done' | 'illegalGeneration' {
    const asked = topics.reduce((sum, { partitions }) => sum + partitions.length, 0)
    const answers = answer.topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionIndex, errorCode }) => ({ topic: name, partition: partitionIndex, code: errorCode })),
    )
    if (answers.length !== asked) {
      throw new MillraceError('PROTOCOL_VIOLATION', {
        what: 'A TxnOffsetCommit answer lacks a partition.',
        reaction: 'refence',
      })
    }
    const refused = answers.filter(({ code }) => code !== 0)
    const [worst] = refused.toSorted((a, b) => isGeneration(a.code) - isGeneration(b.code))
    if (worst === undefined) return 'done'
    if (isGeneration(worst.code) === 1) return 'illegalGeneration'
    const { topic, partition, code } = worst
    throw brokerFailure(code, 'offsetCommit', `TxnOffsetCommit for group ${groupId}`, { topic, partition })
  }
}

/** 1 for the codes that say a rebalance went on, 0 for worse ones. */
function isGeneration(code: number): 0 | 1 {
  return reactionTo(code, 'offsetCommit') === 'newGeneration' ? 1 : 0
}
