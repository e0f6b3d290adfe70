import { expect } from 'chai'
import { systemClock } from '../../../../src/engine/system-clock.ts'
import { Admin } from '../../../../src/kafka/admin/admin.ts'
import { Cluster } from '../../../../src/kafka/cluster/cluster.ts'
import { SILENT_LOGGER } from '../../../../src/model/logger.ts'
import type { ReceivedRequest } from '../../../support/frame-server.ts'
import { topicAnswer } from '../cluster/metadata-answers.ts'
import { TwoBrokers } from '../cluster/two-brokers.ts'

const PLACE = { topic: 't', partition: 0 }
const STATE_TOPIC = '__transaction_state'
const PRODUCER_ID = 7
const START_OFFSET = 3
const NO_LEADER = -1
const TOPIC_AUTHORIZATION_FAILED = 29

/** The transaction of the one producer as its coordinator tells it. */
interface Told {
  readonly state: string
  /** Partitions of `t` that it counts. */
  readonly partitions: readonly number[]
}

describe('a transaction that is open on a partition', () => {
  let kafka: TwoBrokers
  let cluster: Cluster
  let admin: Admin
  /** What the first broker, as coordinator, tells; `undefined` when it knows of none. */
  let told: Told | undefined
  /** How often the leader still says that the transaction is open. */
  let openTimes: number

  beforeEach(async () => {
    told = undefined
    openTimes = Number.POSITIVE_INFINITY
    kafka = new TwoBrokers()
    kafka.otherwise = answer
    await kafka.start()
    coordinatorsLog(1, 2)
    cluster = new Cluster({
      bootstrapServers: [kafka.addressOf(1)],
      clientId: 'unit',
      security: { protocol: 'PLAINTEXT' },
      clock: systemClock,
      logger: SILENT_LOGGER,
      requestTimeoutMs: 2_000,
      retryBackoffMs: 5,
    })
    await cluster.connect(2_000)
    admin = new Admin(cluster, { clock: systemClock, timeoutMs: 2_000 })
  })

  afterEach(async () => {
    await cluster.close()
    await kafka.stop()
  })

  /** The leaders of the partitions of the coordinators' log. */
  function coordinatorsLog(...leaders: readonly number[]): void {
    kafka.topics = [
      topicAnswer('t', [{ leader: 1 }]),
      topicAnswer(
        STATE_TOPIC,
        leaders.map(leader => ({ leader })),
      ),
    ]
  }

  function answer(nodeId: number, request: ReceivedRequest): boolean {
    if (request.api === 'DescribeProducers') answerProducers(request)
    else if (request.api === 'ListTransactions') answerList(nodeId, request)
    else if (request.api === 'DescribeTransactions') answerDescribe(request)
    else return false
    return true
  }

  function answerProducers(request: ReceivedRequest): void {
    openTimes -= 1
    const producer = {
      producerId: PRODUCER_ID,
      producerEpoch: 1,
      lastSequence: 0,
      lastTimestamp: 1_000,
      coordinatorEpoch: 0,
      currentTxnStartOffset: openTimes >= 0 ? START_OFFSET : -1,
    }
    const partition = { partitionIndex: 0, errorCode: 0, errorMessage: null, activeProducers: [producer] }
    request.answer('DescribeProducers', { throttleTimeMs: 0, topics: [{ name: 't', partitions: [partition] }] })
  }

  function answerList(nodeId: number, request: ReceivedRequest): void {
    request.answer('ListTransactions', {
      throttleTimeMs: 0,
      errorCode: 0,
      unknownStateFilters: [],
      transactionStates:
        told === undefined || nodeId !== 1
          ? []
          : [{ transactionalId: 'id', producerId: PRODUCER_ID, transactionState: told.state }],
    })
  }

  function answerDescribe(request: ReceivedRequest): void {
    const { state, partitions } = told ?? { state: 'Empty', partitions: [] }
    request.answer('DescribeTransactions', {
      throttleTimeMs: 0,
      transactionStates: [
        {
          errorCode: 0,
          transactionalId: 'id',
          transactionState: state,
          transactionTimeoutMs: 60_000,
          transactionStartTimeMs: 900,
          producerId: PRODUCER_ID,
          producerEpoch: 1,
          topics: [{ topic: 't', partitions: [...partitions] }],
        },
      ],
    })
  }

  const found = async (): Promise<readonly (readonly [hanging: boolean, owner: string | undefined])[]> =>
    (await admin.openTransactions([PLACE])).map(({ hanging, owner }) => [hanging, owner?.transactionalId] as const)

  it('hangs when every coordinator can be asked and none knows of it', async () => {
    expect(await found()).to.deep.equal([[true, undefined]])
  })

  it('is not said to hang while a part of the coordinators’ log has no leader: the one who will end it may be there', async () => {
    coordinatorsLog(1, NO_LEADER)
    expect(await found()).to.deep.equal([[false, undefined]])
  })

  it('hangs all the same when its coordinator answers and does not count the partition, whoever else is away', async () => {
    coordinatorsLog(1, NO_LEADER)
    told = { state: 'Ongoing', partitions: [1] }
    expect(await found()).to.deep.equal([[true, 'id']])
    told = { state: 'CompleteCommit', partitions: [] }
    expect(await found()).to.deep.equal([[true, 'id']])
  })

  for (const state of ['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence']) {
    it(`does not hang while its coordinator has still to end it (${state})`, async () => {
      told = { state, partitions: [0] }
      expect(await found()).to.deep.equal([[false, 'id']])
    })
  }

  it('is judged by what the coordinators say where their log may not be looked at', async () => {
    kafka.topics = [
      topicAnswer('t', [{ leader: 1 }]),
      topicAnswer(STATE_TOPIC, [], { errorCode: TOPIC_AUTHORIZATION_FAILED }),
    ]
    expect(await found()).to.deep.equal([[true, undefined]])
  })

  it('is left out when it has ended between the two questions', async () => {
    openTimes = 1
    expect(await found()).to.deep.equal([])
  })
})
