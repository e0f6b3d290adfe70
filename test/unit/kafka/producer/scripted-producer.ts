import { systemClock } from '../../../../src/engine/system-clock.ts'
import { Cluster } from '../../../../src/kafka/cluster/cluster.ts'
import { Producer } from '../../../../src/kafka/producer/producer.ts'
import type { ProducerOptions } from '../../../../src/kafka/producer/producer-options.ts'
import { NO_HEADERS } from '../../../../src/model/headers.ts'
import { SILENT_LOGGER } from '../../../../src/model/logger.ts'
import type { ReceivedRequest } from '../../../support/frame-server.ts'
import { readBlock } from '../../../support/record-blocks.ts'
import { topicAnswer } from '../cluster/metadata-answers.ts'
import { TwoBrokers } from '../cluster/two-brokers.ts'

const TIMEOUT_MS = 5_000
const PRODUCER_ID = 4_000
/** Where the header of a batch has them (KIP-98). */
const EPOCH_AT = 51
const BASE_SEQUENCE_AT = 53

/** A batch as the broker got it. */
export interface ReceivedBatch {
  readonly partition: number
  readonly epoch: number
  readonly baseSequence: number
  readonly values: readonly (string | null)[]
}

/** A producer on two brokers whose answers the test writes. The first leads partitions 0 and 2, the second 1. */
export class ScriptedProducer {
  /** Batches in order of arrival, those that are refused too. */
  readonly batches: ReceivedBatch[] = []
  /** The transactional requests, in order. */
  readonly calls: string[] = []
  /** The error code that a batch is answered with. */
  produceAnswer: (batch: ReceivedBatch) => number = () => 0
  /** The error code of every EndTxn. */
  endTxnCode = 0
  /** The error code of every InitProducerId. */
  initCode = 0
  readonly #kafka = new TwoBrokers()
  readonly #cluster: Cluster
  readonly producer: Producer
  #epoch = -1

  private constructor(kafka: TwoBrokers, options: Partial<ProducerOptions>) {
    this.#kafka = kafka
    kafka.otherwise = (_, request) => this.#answer(request)
    this.#cluster = new Cluster({
      bootstrapServers: [kafka.addressOf(1)],
      clientId: 'unit',
      security: { protocol: 'PLAINTEXT' },
      clock: systemClock,
      logger: SILENT_LOGGER,
      requestTimeoutMs: TIMEOUT_MS,
      retryBackoffMs: 20,
    })
    this.producer = new Producer({
      cluster: this.#cluster,
      clock: systemClock,
      logger: SILENT_LOGGER,
      transactionalId: 't',
      idempotent: true,
      acks: -1,
      transactionTimeoutMs: 30_000,
      batchSizeBytes: 16_384,
      lingerMs: 0,
      maxInFlightPerPartition: 5,
      compression: 'none',
      bufferMemoryBytes: 1_000_000,
      requestTimeoutMs: TIMEOUT_MS,
      deliveryTimeoutMs: TIMEOUT_MS,
      maxBlockMs: TIMEOUT_MS,
      ...options,
    })
  }

  /** A producer that has its id, where the cluster's transaction.version is this. */
  static async start(transactionVersion: 0 | 2, options: Partial<ProducerOptions> = {}): Promise<ScriptedProducer> {
    const kafka = new TwoBrokers()
    kafka.offered = { transactionVersion }
    kafka.topics = [topicAnswer('out', [{ leader: 1 }, { leader: 2 }, { leader: 1 }])]
    await kafka.start()
    const scripted = new ScriptedProducer(kafka, options)
    await scripted.#cluster.connect(TIMEOUT_MS)
    await scripted.producer.initialize()
    return scripted
  }

  /** Appends one value to a partition; nothing is waited for. */
  append(value: string, partition = 0): void {
    const { records } = this.producer
    records.append(records.topic('out'), partition, null, Buffer.from(value), 1_000, NO_HEADERS)
  }

  /** What came of a partition, in order of arrival. */
  valuesOf(partition: number): (string | null)[] {
    return this.batches.filter(batch => batch.partition === partition).flatMap(({ values }) => values)
  }

  /** Closes the producer's connections under it, for good. */
  closeConnections(): Promise<void> {
    return this.#cluster.close()
  }

  async stop(): Promise<void> {
    this.endTxnCode = 0
    await this.producer.close(TIMEOUT_MS)
    await this.#cluster.close()
    await this.#kafka.stop()
  }

  #answer(request: ReceivedRequest): boolean {
    if (request.api === 'InitProducerId') {
      this.calls.push('InitProducerId')
      if (this.initCode === 0) this.#epoch += 1
      request.answer('InitProducerId', this.#identity(this.initCode))
    } else if (request.api === 'EndTxn') {
      this.calls.push(request.body('EndTxn').committed ? 'commit' : 'abort')
      if (this.endTxnCode === 0 && request.version >= 5) this.#epoch += 1
      request.answer('EndTxn', this.#identity(this.endTxnCode))
    } else if (request.api === 'AddPartitionsToTxn') this.#answerAdd(request)
    else if (request.api === 'Produce') this.#answerProduce(request)
    else return false
    return true
  }

  #identity(errorCode: number): {
    throttleTimeMs: number
    errorCode: number
    producerId: number
    producerEpoch: number
    ongoingTxnProducerId: number
    ongoingTxnProducerEpoch: number
  } {
    return {
      throttleTimeMs: 0,
      errorCode,
      producerId: PRODUCER_ID,
      producerEpoch: this.#epoch,
      ongoingTxnProducerId: -1,
      ongoingTxnProducerEpoch: -1,
    }
  }

  #answerAdd(request: ReceivedRequest): void {
    request.answer('AddPartitionsToTxn', {
      throttleTimeMs: 0,
      errorCode: 0,
      resultsByTransaction: [],
      resultsByTopicV3AndBelow: request.body('AddPartitionsToTxn').v3AndBelowTopics.map(({ name, partitions }) => ({
        name,
        resultsByPartition: partitions.map(partitionIndex => ({ partitionIndex, partitionErrorCode: 0 })),
      })),
    })
  }

  #answerProduce(request: ReceivedRequest): void {
    const answers: { index: number; errorCode: number }[] = []
    for (const { partitionData = [] } of request.body('Produce').topicData) {
      for (const { index, records } of partitionData) {
        if (!records) throw new Error('a Produce request without records')
        const batch = {
          partition: index,
          epoch: records.readInt16BE(EPOCH_AT),
          baseSequence: records.readInt32BE(BASE_SEQUENCE_AT),
          values: readBlock(records).records.map(({ value }) => value),
        }
        this.batches.push(batch)
        answers.push({ index, errorCode: this.produceAnswer(batch) })
      }
    }
    request.answer('Produce', {
      throttleTimeMs: 0,
      nodeEndpoints: [],
      responses: [
        {
          name: 'out',
          topicId: Buffer.alloc(16),
          partitionResponses: answers.map(({ index, errorCode }) => ({
            index,
            errorCode,
            baseOffset: 0,
            logAppendTimeMs: -1,
            logStartOffset: 0,
            recordErrors: [],
            errorMessage: null,
            currentLeader: { leaderId: -1, leaderEpoch: -1 },
          })),
        },
      ],
    })
  }
}
