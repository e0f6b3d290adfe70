import { uniqueName } from '../../support/broker.ts'
import type { GroupLoop } from './group-loop.ts'

const TIMEOUT_MS = 10_000

/** A transaction that holds one offset of partition 0, made by hand: what an owner that died leaves behind. */
export class PendingTransaction {
  readonly #loop: GroupLoop
  readonly #id: string
  readonly #producerId: number
  readonly #producerEpoch: number

  private constructor(loop: GroupLoop, id: string, producerId: number, producerEpoch: number) {
    this.#loop = loop
    this.#id = id
    this.#producerId = producerId
    this.#producerEpoch = producerEpoch
  }

  static async begin(loop: GroupLoop, groupId: string, topic: string, offset: number): Promise<PendingTransaction> {
    const { cluster, member } = loop
    const transactionalId = uniqueName('transaction')
    const call = { timeoutMs: TIMEOUT_MS, retryLost: false }
    const init = await cluster.coordinatorCall(
      'transaction',
      transactionalId,
      'InitProducerId',
      { transactionalId, transactionTimeoutMs: 20_000, producerId: -1, producerEpoch: -1 },
      { ...call, version: 4, errorCodesOf: answer => [answer.errorCode] },
    )
    const { producerId, producerEpoch } = init
    const added = await cluster.coordinatorCall(
      'transaction',
      transactionalId,
      'AddOffsetsToTxn',
      { transactionalId, producerId, producerEpoch, groupId },
      { ...call, version: 3, errorCodesOf: answer => [answer.errorCode] },
    )
    const { generationId = -1, memberId = '', groupInstanceId = null } = member.membership ?? {}
    const committed = await cluster.coordinatorCall(
      'group',
      groupId,
      'TxnOffsetCommit',
      {
        transactionalId,
        groupId,
        producerId,
        producerEpoch,
        generationIdOrMemberEpoch: generationId,
        memberId,
        groupInstanceId,
        topics: [{ name: topic, partitions: [{ partitionIndex: 0, committedOffset: offset, committedMetadata: '' }] }],
      },
      {
        ...call,
        version: 3,
        errorCodesOf: answer => answer.topics.flatMap(({ partitions }) => partitions.map(p => p.errorCode)),
      },
    )
    const codes = [
      init.errorCode,
      added.errorCode,
      ...committed.topics.flatMap(({ partitions }) => partitions.map(p => p.errorCode)),
    ]
    if (codes.some(code => code !== 0)) throw new Error(`the transaction did not begin: ${codes.join(' ')}`)
    return new PendingTransaction(loop, transactionalId, producerId, producerEpoch)
  }

  async end(result: 'commit' | 'abort'): Promise<void> {
    const answer = await this.#loop.cluster.coordinatorCall(
      'transaction',
      this.#id,
      'EndTxn',
      {
        transactionalId: this.#id,
        producerId: this.#producerId,
        producerEpoch: this.#producerEpoch,
        committed: result === 'commit',
      },
      { timeoutMs: TIMEOUT_MS, retryLost: false, version: 3, errorCodesOf: body => [body.errorCode] },
    )
    if (answer.errorCode !== 0) throw new Error(`EndTxn was answered with ${String(answer.errorCode)}`)
  }
}
