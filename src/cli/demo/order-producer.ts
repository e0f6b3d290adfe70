import { sleep } from '../../model/clock.ts'
import { NO_HEADERS } from '../../model/headers.ts'
import { SILENT_LOGGER } from '../../model/logger.ts'
import { partitionForKey } from '../../model/murmur2.ts'
import { Producer } from '../../kafka/producer/producer.ts'
import type { DemoCluster } from './demo-cluster.ts'
import { orderBytes, type PlannedTransaction } from './order-plan.ts'

/** Where the orders go. */
export interface OrderTarget {
  readonly topic: string
  readonly partitions: number
  readonly transactionalId: string
}

const CALL_TIMEOUT_MS = 30_000
const PACE_POLL_MS = 10

/**
 * Writes the planned transactions, commits them or aborts them as planned.
 *
 * @param mayWrite - whether the next transaction may begin, so many records committed so far; asked again and again
 * @returns number of aborted transactions
 */
export async function produceOrders(
  { cluster, clock }: DemoCluster,
  { topic, partitions, transactionalId }: OrderTarget,
  plan: readonly PlannedTransaction[],
  mayWrite: (written: number) => boolean,
): Promise<void> {
  const producer = new Producer({
    cluster,
    clock,
    logger: SILENT_LOGGER,
    transactionalId,
    idempotent: true,
    acks: -1,
    transactionTimeoutMs: 60_000,
    batchSizeBytes: 262_144,
    lingerMs: 0,
    maxInFlightPerPartition: 5,
    compression: 'none',
    bufferMemoryBytes: 33_554_432,
    requestTimeoutMs: CALL_TIMEOUT_MS,
    deliveryTimeoutMs: CALL_TIMEOUT_MS,
    maxBlockMs: CALL_TIMEOUT_MS,
  })
  await producer.initialize()
  let written = 0
  try {
    for (const { orders, aborted } of plan) {
      while (!mayWrite(written)) await sleep(clock, PACE_POLL_MS)
      for (const order of orders) {
        const { key, value } = orderBytes(order)
        producer.records.append(
          producer.records.topic(topic),
          partitionForKey(key, partitions),
          key,
          value,
          clock.wallClockMs(),
          NO_HEADERS,
        )
      }
      await producer.flush(CALL_TIMEOUT_MS)
      if (aborted) await producer.abortTransaction(CALL_TIMEOUT_MS)
      else if ((await producer.commitTransaction(CALL_TIMEOUT_MS)) === 'committed') written += orders.length
      else throw new Error("the outcome of the demo's own input transaction is unknown")
    }
  } finally {
    await producer.close(CALL_TIMEOUT_MS)
  }
}
