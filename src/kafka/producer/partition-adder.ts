import { crashPoint } from '../../model/crash-point.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { reactionTo } from '../error-reactions.ts'
import { groupByTopic } from '../partition-grouping.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import { type TransactionCalls, failureOf } from './transaction-calls.ts'
import type { PartitionLane } from './partition-lane.ts'
import { brokerFailure } from './producer-failure.ts'
import type { ProducerIdentity } from './producer-identity.ts'
import { spokenVersions } from './transaction-versions.ts'

/** What the adder needs of the transaction it adds to. */
export interface OpenTransaction {
  readonly transactionalId: string
  /** Serial number of the open transaction; begins one when there is none. @throws MillraceError */
  open(): Promise<number>
  /** Whether that transaction is still open. */
  isOpen(serial: number): boolean
  /** A request got no answer. */
  noteUnsure(): void
  /** The transaction cannot go on. `kafkaCode` is 0 without an answer. */
  failed(error: MillraceError, kafkaCode: number): void
  /** Partitions were added: they may be sent to. */
  added(): void
}

/** Settings of `PartitionAdder`. */
export interface PartitionAdderOptions {
  readonly calls: TransactionCalls
  readonly cluster: Cluster
  readonly identity: ProducerIdentity
  readonly transaction: OpenTransaction
  readonly timeoutMs: number
}

/**
 * Adds partitions to the transaction before their first batch, all that wait in one request. With protocol 2 the broker
 * would do it by itself, but then the first batches wait for the markers of the transaction before in steps of 20 ms, or
 * come back out of order where there are several brokers.
 */
export class PartitionAdder {
  readonly #options: PartitionAdderOptions
  #waiting: PartitionLane[] = []
  #working = false

  constructor(options: PartitionAdderOptions) {
    this.#options = options
  }

  /** Adds the partition soon. */
  add(lane: PartitionLane): void {
    if (!lane.awaitsAdding) {
      lane.awaitsAdding = true
      this.#waiting.push(lane)
    }
    if (!this.#working) void this.#work()
  }

  /** Forgets what waits. */
  clear(): void {
    for (const lane of this.#waiting) lane.awaitsAdding = false
    this.#waiting = []
  }

  async #work(): Promise<void> {
    this.#working = true
    // Partitions of the same moment are offered one after the other: without this the first one would go alone.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const lanes = this.#waiting
      this.#waiting = []
      // A failure is the transaction's, which is then aborted; what waited is sent again in another one.
      if (!(await this.#add(lanes))) this.clear()
      for (const lane of lanes) lane.awaitsAdding = false
    }
    this.#working = false
  }

  /** False when the transaction has failed. */
  async #add(lanes: readonly PartitionLane[]): Promise<boolean> {
    const { transaction } = this.#options
    let serial: number | undefined
    try {
      serial = await transaction.open()
      await this.#addAll(lanes, serial)
      if (!transaction.isOpen(serial)) return true
      for (const lane of lanes) lane.addedIn = serial
      transaction.added()
      return true
    } catch (error) {
      if (serial !== undefined && !transaction.isOpen(serial)) return true
      const failure = failureOf(error)
      transaction.failed(failure, failure.details.kafkaCode ?? 0)
      return false
    }
  }

  async #addAll(lanes: readonly PartitionLane[], serial: number): Promise<void> {
    const { calls, identity, transaction, timeoutMs } = this.#options
    const { transactionalId } = transaction
    const { producerId, epoch } = identity.stamp
    const { answer } = await calls.call({
      route: { kind: 'transaction', id: transactionalId },
      api: 'AddPartitionsToTxn',
      versions: spokenVersions(identity.protocol, 'AddPartitionsToTxn'),
      body: {
        v3AndBelowTransactionalId: transactionalId,
        v3AndBelowProducerId: producerId,
        v3AndBelowProducerEpoch: epoch,
        v3AndBelowTopics: topicsOf(lanes),
      },
      callKind: 'transaction',
      deadline: calls.deadline(timeoutMs),
      resendsLost: true,
      codesOf: ({ resultsByTopicV3AndBelow }) =>
        resultsByTopicV3AndBelow.flatMap(topic => topic.resultsByPartition.map(result => result.partitionErrorCode)),
      onLost: () => {
        transaction.noteUnsure()
      },
      isWanted: () => transaction.isOpen(serial),
    })
    crashPoint('addPartitions:answered')
    for (const { name, resultsByPartition } of answer.resultsByTopicV3AndBelow) {
      for (const { partitionIndex, partitionErrorCode: code } of resultsByPartition) {
        if (code === 0 || code === ERROR_CODE.OPERATION_NOT_ATTEMPTED || reactionTo(code, 'transaction') === 'retry')
          continue
        const details = { topic: name, partition: partitionIndex }
        const where = `Adding a partition to the transaction of ${transactionalId}`
        throw brokerFailure(code, 'transaction', where, details)
      }
    }
  }
}

function topicsOf(lanes: readonly PartitionLane[]): { name: string; partitions: number[] }[] {
  return [...groupByTopic(lanes)].map(([name, partitions]) => ({ name, partitions }))
}
