import { systemClock } from '../../../src/engine/system-clock.ts'
import { Admin } from '../../../src/kafka/admin/admin.ts'
import { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import { Producer } from '../../../src/kafka/producer/producer.ts'
import type { ProducerOptions } from '../../../src/kafka/producer/producer-options.ts'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { uniqueName } from '../../support/broker.ts'
import type { ProxyAction } from '../../support/kafka-proxy.ts'
import { type ReadRecord, readTopic, readTopicInProcess } from '../../support/kafka-reader.ts'
import { untilMarked } from '../../support/transaction-markers.ts'

const TIMEOUT_MS = 20_000

/** What is special about a topic of a test. */
interface TopicShape {
  /** @default 4 */
  readonly partitions?: number
  /** @default 1 */
  readonly replicationFactor?: number
  readonly configs?: Readonly<Record<string, string>>
}

/** What a test of the producer works in: a topic of its own, and clusters and producers that end with the test. */
export class ProducerRoom {
  readonly topic = uniqueName('out')
  readonly transactionalId = uniqueName('tx')
  readonly #brokers: string
  readonly #clusters: Cluster[] = []
  readonly #producers: Producer[] = []
  readonly admin: Admin

  private constructor(brokers: string, cluster: Cluster) {
    this.#brokers = brokers
    this.#clusters.push(cluster)
    this.admin = new Admin(cluster, { clock: systemClock })
  }

  static async open(bootstrapServers: string, topic: TopicShape = {}): Promise<ProducerRoom> {
    const room = new ProducerRoom(bootstrapServers, await connect(bootstrapServers))
    await room.admin.createTopics(
      [
        {
          name: room.topic,
          partitions: topic.partitions ?? 4,
          replicationFactor: topic.replicationFactor ?? 1,
          configs: topic.configs ?? {},
        },
      ],
      TIMEOUT_MS,
    )
    return room
  }

  /** A producer that is ready to write, transactional unless said otherwise, with a connection of its own. */
  async producer(options: Partial<ProducerOptions> = {}, bootstrapServers: string = this.#brokers): Promise<Producer> {
    const producer = await this.newProducer(options, bootstrapServers)
    await producer.initialize()
    return producer
  }

  /** As `producer`, before `initialize`. */
  async newProducer(options: Partial<ProducerOptions> = {}, bootstrapServers = this.#brokers): Promise<Producer> {
    const cluster = await connect(bootstrapServers, options.requestTimeoutMs)
    this.#clusters.push(cluster)
    const producer = new Producer({
      cluster,
      clock: systemClock,
      logger: SILENT_LOGGER,
      transactionalId: this.transactionalId,
      idempotent: true,
      acks: -1,
      transactionTimeoutMs: 30_000,
      batchSizeBytes: 262_144,
      lingerMs: 5,
      maxInFlightPerPartition: 5,
      compression: 'none',
      bufferMemoryBytes: 33_554_432,
      requestTimeoutMs: 10_000,
      deliveryTimeoutMs: TIMEOUT_MS,
      maxBlockMs: TIMEOUT_MS,
      ...options,
    })
    this.#producers.push(producer)
    return producer
  }

  /** Node id of a partition's leader. */
  async leaderOf(partition: number): Promise<number> {
    const info = await this.#clusters[0]?.topic(this.topic)
    return info?.partitions.find(each => each.partition === partition)?.leader ?? -1
  }

  /** Appends values to a partition; nothing is waited for. */
  append(producer: Producer, values: readonly string[], partition = 0): void {
    for (const value of values) {
      producer.records.append(
        producer.records.topic(this.topic),
        partition,
        null,
        Buffer.from(value),
        Date.now(),
        NO_HEADERS,
      )
    }
  }

  /** Writes values and commits them. */
  async commit(producer: Producer, values: readonly string[], partition = 0): Promise<void> {
    this.append(producer, values, partition)
    await producer.flush(TIMEOUT_MS)
    const outcome = await producer.commitTransaction(TIMEOUT_MS)
    if (outcome !== 'committed') throw new Error(`not committed but ${outcome}`)
  }

  /** What a read_committed reader finds in a partition, once the broker has marked every outcome it has told. */
  async committed(partition = 0): Promise<string[]> {
    await untilMarked(this.admin, this.transactionalId)
    return inPartition(await readTopicInProcess(this.#brokers, this.topic, 'read_committed'), partition)
  }

  /** As `committed`, by the Java client: slower, and owing nothing to our own reader. */
  async committedForJava(partition = 0): Promise<string[]> {
    await untilMarked(this.admin, this.transactionalId)
    return inPartition(await readTopic(this.#brokers, this.topic, 'read_committed'), partition)
  }

  /** What is in a partition's log at all. */
  async written(partition = 0): Promise<string[]> {
    return inPartition(await readTopicInProcess(this.#brokers, this.topic, 'read_uncommitted'), partition)
  }

  async close(): Promise<void> {
    await Promise.all(this.#producers.map(producer => producer.close(2_000)))
    await Promise.all(this.#clusters.map(cluster => cluster.close()))
  }
}

function inPartition(records: readonly ReadRecord[], partition: number): string[] {
  return records.filter(record => record.partition === partition).map(({ value }) => value?.toString() ?? 'null')
}

async function connect(bootstrapServers: string, requestTimeoutMs = 10_000): Promise<Cluster> {
  const cluster = new Cluster({
    bootstrapServers: bootstrapServers.split(',').map(server => {
      const colon = server.lastIndexOf(':')
      return { host: server.slice(0, colon), port: Number(server.slice(colon + 1)) }
    }),
    clientId: 'producer-test',
    security: { protocol: 'PLAINTEXT' },
    clock: systemClock,
    requestTimeoutMs,
    logger: SILENT_LOGGER,
  })
  await cluster.connect(TIMEOUT_MS)
  return cluster
}

/** `count` values that say who wrote them. */
export function valuesOf(count: number, name: string, bytes = 0): string[] {
  return Array.from({ length: count }, (_, i) => `${name} ${String(i)}`.padEnd(bytes, '.'))
}

/** What a promise is rejected with; the test fails when it is not. */
export async function failureOf(promise: Promise<unknown>): Promise<MillraceError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof MillraceError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** Answers a Produce request with one error code for all its partitions; the broker never sees it. */
export function answered(errorCode: number): ProxyAction<'Produce'> {
  return {
    type: 'answer',
    body: ({ request }) => ({
      throttleTimeMs: 0,
      nodeEndpoints: [],
      responses: request.topicData.map(({ name = '', partitionData }) => ({
        name,
        topicId: Buffer.alloc(16),
        partitionResponses: partitionData.map(({ index }) => ({
          index,
          errorCode,
          baseOffset: -1,
          logAppendTimeMs: -1,
          logStartOffset: -1,
          recordErrors: [],
          errorMessage: null,
          currentLeader: { leaderId: -1, leaderEpoch: -1 },
        })),
      })),
    }),
  }
}
