import { expect } from 'chai'
import { systemClock } from '../../../../src/engine/system-clock.ts'
import { Admin } from '../../../../src/kafka/admin/admin.ts'
import { Cluster } from '../../../../src/kafka/cluster/cluster.ts'
import { SILENT_LOGGER } from '../../../../src/model/logger.ts'
import type { ReceivedRequest } from '../../../support/frame-server.ts'
import { rejectionOf } from '../../../support/rejection.ts'
import { topicAnswer } from '../cluster/metadata-answers.ts'
import { TwoBrokers } from '../cluster/two-brokers.ts'

/** Answers ListOffsets with 100 × node + partition, the last partition asked for first. */
function answerOffsets(nodeId: number, request: ReceivedRequest, errorCode = 0): boolean {
  const { topics } = request.body('ListOffsets')
  request.answer('ListOffsets', {
    throttleTimeMs: 0,
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions
        .map(({ partitionIndex }) => ({
          partitionIndex,
          errorCode,
          timestamp: -1,
          offset: errorCode === 0 ? 100 * nodeId + partitionIndex : -1,
          leaderEpoch: 0,
        }))
        .toReversed(),
    })),
  })
  return true
}

function answerCreate(request: ReceivedRequest, errorCode: number, reason = 'said so'): boolean {
  const { topics } = request.body('CreateTopics')
  request.answer('CreateTopics', {
    throttleTimeMs: 0,
    topics: topics.map(({ name }) => ({
      name,
      topicId: Buffer.alloc(16),
      errorCode,
      errorMessage: errorCode === 0 ? null : reason,
      topicConfigErrorCode: 0,
      numPartitions: 1,
      replicationFactor: 1,
      configs: [],
    })),
  })
  return true
}

function answerDelete(request: ReceivedRequest, errorCode = 68): boolean {
  request.answer('DeleteGroups', { throttleTimeMs: 0, results: [{ groupId: 't', errorCode, errorMessage: null }] })
  return true
}

function answerMembers(request: ReceivedRequest, instances: readonly string[]): boolean {
  request.answer('DescribeGroups', {
    throttleTimeMs: 0,
    groups: [
      {
        errorCode: 0,
        errorMessage: null,
        groupId: 't',
        groupState: instances.length === 0 ? 'Empty' : 'Stable',
        protocolType: 'consumer',
        protocolData: 'millrace',
        members: instances.map(groupInstanceId => ({
          memberId: `${groupInstanceId}-member`,
          groupInstanceId,
          clientId: 'unit',
          clientHost: '/127.0.0.1',
          memberMetadata: Buffer.alloc(0),
          memberAssignment: Buffer.alloc(0),
        })),
        authorizedOperations: -2_147_483_648,
      },
    ],
  })
  return true
}

describe('Admin', () => {
  let kafka: TwoBrokers
  let cluster: Cluster
  let admin: Admin

  beforeEach(async () => {
    kafka = new TwoBrokers()
    await kafka.start()
    cluster = new Cluster({
      bootstrapServers: [kafka.addressOf(1)],
      clientId: 'unit',
      security: { protocol: 'PLAINTEXT' },
      clock: systemClock,
      logger: SILENT_LOGGER,
      requestTimeoutMs: 2_000,
      retryBackoffMs: 5,
    })
    admin = new Admin(cluster, { clock: systemClock, timeoutMs: 1_000 })
  })

  afterEach(async () => {
    await cluster.close()
    await kafka.stop()
  })

  function offsetsOf(partitions: readonly number[]): Promise<number[]> {
    const asked = partitions.map(partition => ({ topic: 't', partition }))
    return admin
      .listOffsets(asked, 'latest', 'read_committed')
      .then(found => asked.map(topicPartition => found.get(topicPartition) ?? -1))
  }

  it('asks each leader once about all its partitions, and matches answers in any order', async () => {
    kafka.topics = [topicAnswer('t', [{ leader: 1 }, { leader: 2 }, { leader: 1 }])]
    const asked: number[] = []
    kafka.otherwise = (nodeId, request) => {
      asked.push(nodeId)
      return answerOffsets(nodeId, request)
    }
    expect(await offsetsOf([0, 1, 2])).to.deep.equal([100, 201, 102])
    expect(asked.toSorted((a, b) => a - b)).to.deep.equal([1, 2])
  })

  it('follows a leader that moved', async () => {
    kafka.topics = [topicAnswer('t', [{ leader: 1, epoch: 1 }])]
    kafka.otherwise = (nodeId, request) => {
      kafka.topics = [topicAnswer('t', [{ leader: 2, epoch: 2 }])]
      return answerOffsets(nodeId, request, nodeId === 1 ? 6 : 0)
    }
    expect(await offsetsOf([0])).to.deep.equal([200])
  })

  it('waits for a partition that has no leader, and says so at the deadline', async () => {
    kafka.topics = [topicAnswer('t', [{ leader: -1 }])]
    const error = await rejectionOf(offsetsOf([0]))
    expect(error.code).to.equal('KAFKA_ERROR')
    expect(error.message).to.match(/t-0: Cannot read an offset: the partition has no leader/)
  })

  it('asks a partition again whose answer was lost, and not the others', async () => {
    kafka.topics = [topicAnswer('t', [{ leader: 1 }, { leader: 2 }])]
    const asked: number[] = []
    kafka.otherwise = (nodeId, request) => {
      asked.push(nodeId)
      if (asked.filter(each => each === 2).length === 1 && nodeId === 2) {
        request.socket.destroy()
        return true
      }
      return answerOffsets(nodeId, request)
    }
    expect(await offsetsOf([0, 1])).to.deep.equal([100, 201])
    expect(asked.toSorted((a, b) => a - b)).to.deep.equal([1, 2, 2])
  })

  it('stops at once at an error that cannot pass, naming the partition', async () => {
    kafka.topics = [topicAnswer('t', [{ leader: 1 }])]
    kafka.otherwise = (nodeId, request) => answerOffsets(nodeId, request, 29)
    const error = await rejectionOf(offsetsOf([0]))
    expect(error.code).to.equal('NOT_AUTHORIZED')
    expect(error.message).to.match(/read an offset of t-0: TOPIC_AUTHORIZATION_FAILED/)
  })

  it('names a partition that the topic does not have', async () => {
    kafka.topics = [topicAnswer('t', [{ leader: 1 }])]
    const error = await rejectionOf(offsetsOf([3]))
    expect([error.code, error.details.partition]).to.deep.equal(['TOPIC_MISSING', 3])
  })

  it('deletes no group that has members, says so at once, and names them', async () => {
    const asked: string[] = []
    kafka.otherwise = (_nodeId, request) => {
      asked.push(request.api)
      return request.api === 'DeleteGroups' ? answerDelete(request) : answerMembers(request, ['host-1-1', 'host-1-2'])
    }
    const error = await rejectionOf(admin.deleteGroup('t'))
    expect(error.code).to.equal('KAFKA_ERROR')
    expect(error.message).to.contain(
      'Cannot delete the group t: it has 2 members, host-1-1 at /127.0.0.1, host-1-2 at /127.0.0.1.',
    )
    expect(error.action).to.contain('Stop them first')
    expect(asked).to.deep.equal(['DeleteGroups', 'DescribeGroups'])
  })

  it('asks again to delete a group whose last member has just left', async () => {
    const asked: string[] = []
    kafka.otherwise = (_nodeId, request) => {
      asked.push(request.api)
      return request.api === 'DeleteGroups'
        ? answerDelete(request, asked.length > 1 ? 0 : 68)
        : answerMembers(request, [])
    }
    expect(await admin.deleteGroup('t')).to.equal(true)
    expect(asked).to.deep.equal(['DeleteGroups', 'DescribeGroups', 'DeleteGroups'])
  })

  describe('createTopics', () => {
    const TOPIC = { name: 't', partitions: 1, replicationFactor: 1, configs: {} }

    it('waits for leaders', async () => {
      let answered = false
      kafka.topics = [topicAnswer('t', [{ leader: -1, epoch: 0 }])]
      kafka.otherwise = (_, request) => {
        setTimeout(() => {
          answered = true
          kafka.topics = [topicAnswer('t', [{ leader: 1, epoch: 1 }])]
        }, 50)
        return answerCreate(request, 0)
      }
      await admin.createTopics([TOPIC])
      expect(answered).to.equal(true)
    })

    it('takes "exists already" as success when an attempt before was lost', async () => {
      kafka.topics = [topicAnswer('t', [{ leader: 1 }])]
      let attempts = 0
      kafka.otherwise = (_, request) => {
        attempts += 1
        if (attempts > 1) return answerCreate(request, 36)
        request.socket.destroy()
        return true
      }
      await admin.createTopics([TOPIC], 1_000, { existing: 'fail' })
      expect(attempts).to.equal(2)
    })

    it('tries again while the controller moves, and stops at a refusal', async () => {
      const codes = [41, 44]
      kafka.otherwise = (_, request) => answerCreate(request, codes.shift() ?? 0)
      const error = await rejectionOf(admin.createTopics([TOPIC]))
      expect(error.message).to.match(/Cannot create the topic t: POLICY_VIOLATION: said so/)
      expect(codes).to.deep.equal([])
    })

    for (const reason of [
      'Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log directories cordoned.',
      'Unable to replicate the partition 1 time(s): All brokers are currently fenced.',
      'Replication factor: 1 larger than available brokers: 0.',
    ]) {
      it(`waits for a broker that may hold the topic: ${reason}`, async () => {
        kafka.topics = [topicAnswer('t', [{ leader: 1 }])]
        const codes = [38, 38]
        kafka.otherwise = (_, request) => answerCreate(request, codes.shift() ?? 0, reason)
        await admin.createTopics([TOPIC])
        expect(codes).to.deep.equal([])
      })
    }

    it('stops at once at a replication factor that the cluster never reaches', async () => {
      const codes = [38, 0]
      const reason = 'The target replication factor of 3 cannot be reached because only 1 broker(s) are registered.'
      kafka.otherwise = (_, request) => answerCreate(request, codes.shift() ?? 0, reason)
      const error = await rejectionOf(admin.createTopics([TOPIC]))
      expect(error.message).to.match(/Cannot create the topic t: INVALID_REPLICATION_FACTOR: The target/)
      expect(codes).to.deep.equal([0])
    })
  })
})
