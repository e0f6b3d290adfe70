import { systemClock } from '../src/engine/system-clock.ts'
import type { Cluster } from '../src/kafka/cluster/cluster.ts'
import { Producer } from '../src/kafka/producer/producer.ts'
import type { ProducerOptions } from '../src/kafka/producer/producer-options.ts'
import { SILENT_LOGGER } from '../src/model/logger.ts'

const TIMEOUT_MS = 60_000

/** A producer without transactions, idempotent, ready to write. */
export async function newProducer(cluster: Cluster, options: Partial<ProducerOptions>): Promise<Producer> {
  const producer = new Producer({
    cluster,
    clock: systemClock,
    logger: SILENT_LOGGER,
    transactionalId: undefined,
    idempotent: true,
    acks: -1,
    transactionTimeoutMs: TIMEOUT_MS,
    batchSizeBytes: 262_144,
    lingerMs: 5,
    maxInFlightPerPartition: 5,
    compression: 'none',
    bufferMemoryBytes: 33_554_432,
    requestTimeoutMs: TIMEOUT_MS,
    deliveryTimeoutMs: TIMEOUT_MS,
    maxBlockMs: TIMEOUT_MS,
    ...options,
  })
  await producer.initialize()
  return producer
}
