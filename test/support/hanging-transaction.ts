import type { Admin } from '../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../src/kafka/cluster/cluster.ts'
import { RecordBatchWriter } from '../../src/kafka/records/record-batch-writer.ts'
import { NO_HEADERS } from '../../src/model/headers.ts'
import type { TopicPartition } from '../../src/model/topic-partition.ts'
import { eventually } from './condition.ts'

const TIMEOUT_MS = 20_000
/** The last version with which a broker does not tell the coordinator of the partition by itself. */
const PRODUCE_VERSION = 11
const BATCH_BYTES_MAX = 65_536

/** A transaction that no coordinator will ever end. */
export interface HangingTransaction {
  readonly producerId: number
  readonly producerEpoch: number
  readonly startOffset: number
}

/**
 * Leaves a transaction open on a partition without telling any coordinator, as a late Produce did before brokers
 * verified (KIP-890): the check is switched off meanwhile.
 *
 * @param transactionalId - of the producer; it has no transaction afterwards
 * @param timestampMs - of its one record
 */
export async function leaveHanging(
  { admin, cluster }: { readonly admin: Admin; readonly cluster: Cluster },
  { topic, partition }: TopicPartition,
  transactionalId: string,
  timestampMs = Date.now(),
): Promise<HangingTransaction> {
  const { producerId, producerEpoch } = await cluster.coordinatorCall(
    'transaction',
    transactionalId,
    'InitProducerId',
    { transactionalId, transactionTimeoutMs: 60_000 },
    { timeoutMs: TIMEOUT_MS, retryLost: true, errorCodesOf: ({ errorCode }) => [errorCode] },
  )
  await cluster.topic(topic)
  const nodeId = cluster.leaderOf({ topic, partition })?.nodeId
  if (nodeId === undefined) throw new Error(`${topic} has no leader`)
  const connection = await cluster.connection(nodeId, 'produce')
  const verification = 'transaction.partition.verification.enable'
  const broker = { type: 'broker', name: String(nodeId) } as const
  await admin.alterConfigs(broker, { set: { [verification]: 'false' } })
  try {
    const batch = new RecordBatchWriter({ initialBytes: 1_024, maxBytes: BATCH_BYTES_MAX })
    batch.append(Buffer.from('hanging'), Buffer.from('hanging'), timestampMs, NO_HEADERS)
    const sealed = batch.seal('none')
    sealed.stamp({ producerId, epoch: producerEpoch, baseSequence: 0, transactional: true })
    const body = {
      transactionalId,
      acks: -1,
      timeoutMs: TIMEOUT_MS,
      topicData: [{ name: topic, partitionData: [{ index: partition, records: sealed.bytes }] }],
    }
    let startOffset = -1
    // The broker takes the new configuration a moment later.
    await eventually('the broker takes a record without a transaction of its coordinator', async () => {
      const answer = await connection.send('Produce', body, { version: PRODUCE_VERSION, timeoutMs: TIMEOUT_MS })
      const appended = answer.responses[0]?.partitionResponses[0]
      startOffset = appended?.errorCode === 0 ? appended.baseOffset : -1
      return startOffset >= 0
    })
    return { producerId, producerEpoch, startOffset }
  } finally {
    await admin.alterConfigs(broker, { unset: [verification] })
  }
}
