import type { Clock } from '../../model/clock.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { CompressionType } from '../records/compression.ts'
import type { ProduceSettings } from './produce-request.ts'

/** What a producer is made of. Units are in the names. Kafka: `ProducerConfig`. */
export interface ProducerOptions {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly logger: Logger
  /** `transactional.id`; `undefined` for a producer without transactions. */
  readonly transactionalId: string | undefined
  /** `enable.idempotence`; always on with a transactional id. Without it nothing is sent twice, and a refused batch is dropped. */
  readonly idempotent: boolean
  /** `acks`. Transactions and idempotence take −1 whatever is given; 0 is sent as 1, because a dropped batch must be counted. */
  readonly acks: -1 | 1 | 0
  /** `transaction.timeout.ms`: the broker aborts a transaction that is open for longer. */
  readonly transactionTimeoutMs: number
  /** `batch.size`: how large a batch grows, with its header, before the next one begins. @default 262144 */
  readonly batchSizeBytes: number
  /** `linger.ms`: how long a batch that is not full waits for more records. */
  readonly lingerMs: number
  /** `max.in.flight.requests.per.connection`, here per partition: brokers remember the last five batches of a producer. */
  readonly maxInFlightPerPartition: 5
  /** `compression.type` */
  readonly compression: CompressionType
  /** `buffer.memory`: appended bytes that no broker has acknowledged yet; `bufferFull` beyond. */
  readonly bufferMemoryBytes: number
  /** `request.timeout.ms`: how long one request may stay unanswered. */
  readonly requestTimeoutMs: number
  /** `delivery.timeout.ms`: how long one batch may take from being closed to being acknowledged. */
  readonly deliveryTimeoutMs: number
  /** `max.block.ms`: bound of `initialize` and `whenBufferFree`. */
  readonly maxBlockMs: number
  /** Without idempotence: told of every batch that is given up, with its number of records. */
  readonly onDropped?: (topic: string, partition: number, records: number, cause: MillraceError) => void
}

/** Whether the batches carry a producer id and sequences. */
export function isNumbered({ idempotent, transactionalId }: ProducerOptions): boolean {
  return idempotent || transactionalId !== undefined
}

/** What every Produce request of the producer says. */
export function produceSettings(options: ProducerOptions): ProduceSettings {
  return {
    transactionalId: options.transactionalId ?? null,
    acks: isNumbered(options) || options.acks === -1 ? -1 : 1,
    timeoutMs: options.requestTimeoutMs,
  }
}
