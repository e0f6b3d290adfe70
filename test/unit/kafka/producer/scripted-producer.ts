import { systemClock } from '../../../../src/engine/system-clock.ts'
import { Cluster } from '../../../../src/kafka/cluster/cluster.ts'
import { Producer } from '../../../../src/kafka/producer/producer.ts'
import type { ProducerOptions } from '../../../../src/kafka/producer/producer-options.ts'
import type { RequestBodies, ResponseBodies } from '../../../../src/kafka/protocol/api.ts'
import { NO_HEADERS } from '../../../../src/model/headers.ts'
import { SILENT_LOGGER } from '../../../../src/model/logger.ts'
import type { ReceivedRequest } from '../../../support/frame-server.ts'
import { readBlock } from '../../../support/record-blocks.ts'
import { topicAnswer } from '../cluster/metadata-answers.ts'
import { TwoBrokers } from '../cluster/two-brokers.ts'

const TIMEOUT_MS = 5_000
const PRODUCER_ID = 4_000
const INVALID_TXN_STATE = 48
/** EndTxn from this version on answers the next epoch, TxnOffsetCommit adds its group (KIP-890). */
const RAISES_EPOCH_FROM = 5
const ADDS_GROUP_FROM = 5
/** Where the header of a batch has them (KIP-98). */
const EPOCH_AT = 51
const BASE_SEQUENCE_AT = 53

/** An answer: an error code, or none because the connection breaks. */
export type ScriptedAnswer = number | 'lost'

/** The answer to one partition of a Produce; `missing` leaves it out of an answer that comes. */
export type ProduceAnswer = ScriptedAnswer | 'missing'

/** A batch as the broker got it. */
export interface ReceivedBatch {
  readonly topic: string
  readonly partition: number
  readonly epoch: number
  readonly baseSequence: number
  readonly values: readonly (string | null)[]
}

/**
 * A producer on two brokers whose answers the test writes. The first leads partitions 0 and 2 of the topic `out`, the second
 * its partition 1 and the topic `more`. As brokers do, they refuse what was not added to the transaction.
 */
export class ScriptedProducer {
  /** Batches in order of arrival, those that are refused too. */
  readonly batches: ReceivedBatch[] = []
  /** The transactional requests, in order. */
  readonly calls: string[] = []
  /** The partitions of each request that adds some to the transaction, as `topic-partition`. */
  readonly additions: (readonly string[])[] = []
  /** What a batch is answered with, now or later. */
  produceAnswer: (batch: ReceivedBatch) => ProduceAnswer | Promise<ProduceAnswer> = () => 0
  /** The TxnOffsetCommit requests, in order. */
  readonly offsetRequests: RequestBodies['TxnOffsetCommit'][] = []
  /** What a partition of them is answered with, where the group is in the transaction; `missing` leaves it out. */
  offsetAnswer: (partition: number) => number | 'missing' = () => 0
  /** What the next EndTxn are answered with, one each. */
  readonly endTxnAnswers: ScriptedAnswer[] = []
  /** The error code of every other EndTxn. */
  endTxnCode = 0
  /** The error code of every InitProducerId. */
  initCode = 0
  /** What answers to InitProducerId wait for. */
  initHeld: Promise<unknown> | undefined
  readonly #kafka = new TwoBrokers()
  readonly #cluster: Cluster
  readonly producer: Producer
  readonly #isTransactional: boolean
  #epoch = -1
  /** What the open transaction holds: partitions as `topic-partition`, and the group. */
  readonly #added = new Set<string>()

  private constructor(kafka: TwoBrokers, options: Partial<ProducerOptions>) {
    this.#kafka = kafka
    this.#isTransactional = !('transactionalId' in options)
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
    kafka.topics = topicsLedBy(1)
    await kafka.start()
    const scripted = new ScriptedProducer(kafka, options)
    await scripted.#cluster.connect(TIMEOUT_MS)
    await scripted.producer.initialize()
    return scripted
  }

  /** Appends one value to a partition; nothing is waited for. */
  append(value: string, partition = 0, topic = 'out'): void {
    const { records } = this.producer
    records.append(records.topic(topic), partition, null, Buffer.from(value), 1_000, NO_HEADERS)
  }

  /** What came of a partition, in order of arrival. */
  valuesOf(partition: number, topic = 'out'): (string | null)[] {
    return this.batches
      .filter(batch => batch.partition === partition && batch.topic === topic)
      .flatMap(({ values }) => values)
  }

  /** Node ids that the next look-ups of a coordinator are answered with; the last one stays. */
  coordinators(...nodeIds: readonly number[]): void {
    this.#kafka.coordinators = [...nodeIds]
  }

  /** Partition 0 of `out` has another leader; who asks for its metadata is told. */
  lead(nodeId: number): void {
    this.#kafka.topics = topicsLedBy(nodeId, 1)
  }

  /** How often a coordinator was looked up. */
  get findRequests(): number {
    return this.#kafka.findRequests
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
    if (request.api === 'InitProducerId') void this.#answerInit(request)
    else if (request.api === 'EndTxn') this.#answerEnd(request)
    else if (request.api === 'AddPartitionsToTxn') this.#answerAdd(request)
    else if (request.api === 'AddOffsetsToTxn') {
      this.#added.add('group')
      request.answer('AddOffsetsToTxn', { throttleTimeMs: 0, errorCode: 0 })
    } else if (request.api === 'TxnOffsetCommit') this.#answerOffsets(request)
    else if (request.api === 'Produce') void this.#answerProduce(request)
    else return false
    return true
  }

  async #answerInit(request: ReceivedRequest): Promise<void> {
    this.calls.push('InitProducerId')
    // Not a moment later than it has to be: answers leave a broker in the order of the requests.
    if (this.initHeld !== undefined) await this.initHeld
    if (this.initCode === 0) this.#epoch += 1
    this.#added.clear()
    request.answer('InitProducerId', this.#identity(this.initCode))
  }

  #answerEnd(request: ReceivedRequest): void {
    this.calls.push(request.body('EndTxn').committed ? 'commit' : 'abort')
    const answer = this.endTxnAnswers.shift() ?? this.endTxnCode
    if (answer === 'lost') {
      request.socket.destroy()
      return
    }
    if (answer === 0 && request.version >= RAISES_EPOCH_FROM) this.#epoch += 1
    this.#added.clear()
    request.answer('EndTxn', this.#identity(answer))
  }

  #answerOffsets(request: ReceivedRequest): void {
    this.calls.push('offsets')
    // From then on the broker adds the group by itself (KIP-890).
    const isAdded = this.#added.has('group') || request.version >= ADDS_GROUP_FROM
    const body = request.body('TxnOffsetCommit')
    this.offsetRequests.push(body)
    request.answer('TxnOffsetCommit', {
      throttleTimeMs: 0,
      topics: body.topics.map(({ name = '', partitions }) => ({
        name,
        topicId: Buffer.alloc(16),
        partitions: partitions.flatMap(({ partitionIndex }) => {
          const errorCode = isAdded ? this.offsetAnswer(partitionIndex) : INVALID_TXN_STATE
          return errorCode === 'missing' ? [] : [{ partitionIndex, errorCode }]
        }),
      })),
    })
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
    const topics = request.body('AddPartitionsToTxn').v3AndBelowTopics
    const added = topics.flatMap(({ name, partitions }) => partitions.map(partition => `${name}-${String(partition)}`))
    this.additions.push(added)
    for (const partition of added) this.#added.add(partition)
    request.answer('AddPartitionsToTxn', {
      throttleTimeMs: 0,
      errorCode: 0,
      resultsByTransaction: [],
      resultsByTopicV3AndBelow: topics.map(({ name, partitions }) => ({
        name,
        resultsByPartition: partitions.map(partitionIndex => ({ partitionIndex, partitionErrorCode: 0 })),
      })),
    })
  }

  async #answerProduce(request: ReceivedRequest): Promise<void> {
    const asked: { readonly batch: ReceivedBatch; readonly answer: ProduceAnswer | Promise<ProduceAnswer> }[] = []
    for (const { name: topic = '', partitionData = [] } of request.body('Produce').topicData) {
      for (const { index: partition, records } of partitionData) {
        if (!records) throw new Error('a Produce request without records')
        const batch = {
          topic,
          partition,
          epoch: records.readInt16BE(EPOCH_AT),
          baseSequence: records.readInt32BE(BASE_SEQUENCE_AT),
          values: readBlock(records).records.map(({ value }) => value),
        }
        this.batches.push(batch)
        const isAdded = !this.#isTransactional || this.#added.has(`${topic}-${String(partition)}`)
        asked.push({ batch, answer: isAdded ? this.produceAnswer(batch) : INVALID_TXN_STATE })
      }
    }
    const answers: { readonly batch: ReceivedBatch; readonly answer: ProduceAnswer }[] = []
    for (const { batch, answer } of asked)
      answers.push({ batch, answer: answer instanceof Promise ? await answer : answer })
    if (answers.some(({ answer }) => answer === 'lost')) request.socket.destroy()
    else request.answer('Produce', produceAnswers(answers))
  }
}

function topicsLedBy(leader: number, epoch = 0): TwoBrokers['topics'] {
  return [
    topicAnswer('out', [{ leader, epoch }, { leader: 2 }, { leader: 1 }]),
    topicAnswer('more', [{ leader: 2 }], { topicId: 2 }),
  ]
}

function produceAnswers(
  answers: readonly { readonly batch: ReceivedBatch; readonly answer: ProduceAnswer }[],
): ResponseBodies['Produce'] {
  const topics = new Set(answers.map(({ batch }) => batch.topic))
  return {
    throttleTimeMs: 0,
    nodeEndpoints: [],
    responses: Array.from(topics, name => ({
      name,
      topicId: Buffer.alloc(16),
      partitionResponses: answers
        .filter(({ batch, answer }) => batch.topic === name && answer !== 'missing')
        .map(({ batch, answer }) => ({
          index: batch.partition,
          errorCode: Number(answer),
          baseOffset: 0,
          logAppendTimeMs: -1,
          logStartOffset: 0,
          recordErrors: [],
          errorMessage: null,
          currentLeader: { leaderId: -1, leaderEpoch: -1 },
        })),
    })),
  }
}
