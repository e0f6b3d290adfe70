import { sameTopicPartition, type TopicPartition } from '../../model/topic-partition.ts'
import type { AdminContext } from './admin-call.ts'
import {
  describeListedTransactions,
  describeProducers,
  leaderlessPartitions,
  listTransactions,
  type PartitionTransaction,
  type ProducerDescription,
  type TransactionDescription,
} from './transaction-admin.ts'

/** A transaction that is open on a partition: readers with `read_committed` do not get past its first record. */
export interface OpenTransaction extends PartitionTransaction {
  /** Offset of its first record in the partition. */
  readonly startOffset: number
  /** Time of its last record in the partition: the clock of the producer, or the broker's (`message.timestamp.type`). */
  readonly lastTimestampMs: number
  /** The transactional id of the producer as its coordinator sees it; `undefined` where no coordinator tells. */
  readonly owner: TransactionDescription | undefined
  /**
   * Whether no coordinator counts the partition among those of a transaction it still has to end, so that nothing but an
   * administrator ever will. Without Describe on its transactional id it cannot be told from one that hangs.
   */
  readonly hanging: boolean
}

/** States in which a coordinator will still write the marker. Kafka: `TransactionState`. */
const ENDS_BY_ITSELF: ReadonlySet<string> = new Set(['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'])

/** As `Admin.openTransactions`. */
export async function openTransactions(
  context: AdminContext,
  partitions: readonly TopicPartition[],
): Promise<readonly OpenTransaction[]> {
  const open = await openOn(context, partitions)
  if (open.length === 0) return []
  const producerIds = [...new Set(open.map(({ producerId }) => producerId))]
  const listed = await listTransactions(context, { producerIds })
  const isUnseen = (await leaderlessPartitions(context)).length > 0
  const owners = new Map(
    [...(await describeListedTransactions(context, listed)).values()].map(owner => [owner.producerId, owner]),
  )
  const judged = open.map(transaction => {
    const owner = owners.get(transaction.producerId)
    // Where a coordinator is away nobody knows whether it will end what nobody else knows of.
    const hanging = !willEnd(owner, transaction.topicPartition) && !(owner === undefined && isUnseen)
    return { ...transaction, owner, hanging }
  })
  const hanging = judged.filter(transaction => transaction.hanging).map(({ topicPartition }) => topicPartition)
  if (hanging.length === 0) return judged
  // Between the two questions a coordinator may have ended it: only what is open after the second one hangs.
  const still = await openOn(context, hanging)
  return judged.filter(transaction => !transaction.hanging || still.some(other => isSame(transaction, other)))
}

type Unjudged = Omit<OpenTransaction, 'owner' | 'hanging'>

async function openOn(context: AdminContext, partitions: readonly TopicPartition[]): Promise<Unjudged[]> {
  const producers = await describeProducers(context, partitions)
  return [...producers].flatMap(([topicPartition, active]) =>
    active
      .filter(({ transactionStartOffset }) => transactionStartOffset >= 0)
      .map(each => openOf(topicPartition, each)),
  )
}

function openOf(topicPartition: TopicPartition, producer: ProducerDescription): Unjudged {
  const { producerId, producerEpoch, coordinatorEpoch, lastTimestamp, transactionStartOffset } = producer
  return {
    topicPartition,
    producerId,
    producerEpoch,
    // Before its first marker a producer has none; brokers take any epoch then.
    coordinatorEpoch: Math.max(0, coordinatorEpoch),
    startOffset: transactionStartOffset,
    lastTimestampMs: lastTimestamp,
  }
}

function willEnd(owner: TransactionDescription | undefined, topicPartition: TopicPartition): boolean {
  if (owner === undefined || !ENDS_BY_ITSELF.has(owner.state)) return false
  return owner.partitions.some(partition => sameTopicPartition(partition, topicPartition))
}

function isSame(one: Unjudged, other: Unjudged): boolean {
  return (
    one.producerId === other.producerId &&
    one.startOffset === other.startOffset &&
    sameTopicPartition(one.topicPartition, other.topicPartition)
  )
}
