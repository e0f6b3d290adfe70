import { expect } from 'chai'
import { systemClock } from '../../../../src/engine/system-clock.ts'
import { Cluster } from '../../../../src/kafka/cluster/cluster.ts'
import { GroupOffsets } from '../../../../src/kafka/group/group-offsets.ts'
import { SILENT_LOGGER } from '../../../../src/model/logger.ts'
import { formatTopicPartition } from '../../../../src/model/topic-partition.ts'
import { rejectionOf } from '../../../support/rejection.ts'
import { TwoBrokers } from '../cluster/two-brokers.ts'

const TIMEOUT_MS = 5_000
const UNSTABLE_OFFSET_COMMIT = 88
const GROUP_AUTHORIZATION_FAILED = 30
const PARTITIONS = [0, 1].map(partition => ({ topic: 'in', partition }))

/** What the coordinator says of one partition. */
interface Held {
  readonly offset: number
  readonly errorCode?: number
}

describe('committed offsets', () => {
  let kafka: TwoBrokers
  let cluster: Cluster
  /** Answers by partition, one array per request; the last one stays. */
  let answers: (readonly Held[])[]
  let groupCode: number
  let requests: number

  beforeEach(async () => {
    answers = []
    groupCode = 0
    requests = 0
    kafka = new TwoBrokers()
    kafka.otherwise = (_, request) => {
      if (request.api !== 'OffsetFetch') return false
      requests += 1
      const held = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
      const partitions = held.map(({ offset, errorCode = 0 }, partitionIndex) => ({
        partitionIndex,
        committedOffset: offset,
        committedLeaderEpoch: 4,
        metadata: 'm',
        errorCode,
      }))
      request.answer('OffsetFetch', {
        throttleTimeMs: 0,
        errorCode: 0,
        topics: [],
        groups: [
          { groupId: 'g', errorCode: groupCode, topics: [{ name: 'in', topicId: Buffer.alloc(16), partitions }] },
        ],
      })
      return true
    }
    await kafka.start()
    cluster = new Cluster({
      bootstrapServers: [kafka.addressOf(1)],
      clientId: 'unit',
      security: { protocol: 'PLAINTEXT' },
      clock: systemClock,
      logger: SILENT_LOGGER,
      requestTimeoutMs: TIMEOUT_MS,
      retryBackoffMs: 20,
    })
    await cluster.connect(TIMEOUT_MS)
  })

  afterEach(async () => {
    await cluster.close()
    await kafka.stop()
  })

  async function fetched(timeoutMs = TIMEOUT_MS): Promise<readonly (readonly [string, number | undefined])[]> {
    const found = await new GroupOffsets(cluster, 'g', systemClock).fetch(PARTITIONS, timeoutMs)
    return Array.from(found, ([partition, held]) => [formatTopicPartition(partition), held?.offset])
  }

  it('are none only where the group says so; 0 is one', async () => {
    answers = [[{ offset: 0 }, { offset: -1 }]]
    expect(await fetched()).to.deep.equal([
      ['in-0', 0],
      ['in-1', undefined],
    ])
  })

  it('are waited for while they are part of an open transaction, never taken for none (KIP-447)', async () => {
    answers = [
      [{ offset: 3 }, { offset: -1, errorCode: UNSTABLE_OFFSET_COMMIT }],
      [{ offset: 3 }, { offset: 9 }],
    ]
    expect(await fetched()).to.deep.equal([
      ['in-0', 3],
      ['in-1', 9],
    ])
    expect(requests).to.equal(2)
  })

  it('are a failure where they stay part of it', async () => {
    answers = [[{ offset: 3 }, { offset: -1, errorCode: UNSTABLE_OFFSET_COMMIT }]]
    const error = await rejectionOf(fetched(300))
    expect(error.code).to.equal('REQUEST_TIMED_OUT')
    expect(error.details).to.include({ partition: 1, kafkaCode: UNSTABLE_OFFSET_COMMIT })
  })

  it('are a failure where the answer leaves a partition out', async () => {
    answers = [[{ offset: 3 }]]
    expect((await rejectionOf(fetched())).code).to.equal('PROTOCOL_VIOLATION')
  })

  it('are a failure where the group refuses to tell', async () => {
    answers = [[{ offset: -1 }, { offset: -1 }]]
    groupCode = GROUP_AUTHORIZATION_FAILED
    expect((await rejectionOf(fetched())).code).to.equal('NOT_AUTHORIZED')
  })
})
