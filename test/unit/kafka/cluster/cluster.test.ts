import { expect } from 'chai'
import { systemClock } from '../../../../src/engine/system-clock.ts'
import { Cluster, type ClusterOptions } from '../../../../src/kafka/cluster/cluster.ts'
import type { ResponseBodies } from '../../../../src/kafka/protocol/api.ts'
import { SILENT_LOGGER, type Logger } from '../../../../src/model/logger.ts'
import { FrameServer } from '../../../support/frame-server.ts'
import { rejectionOf } from '../../../support/rejection.ts'
import { topicAnswer } from './metadata-answers.ts'
import { TwoBrokers } from './two-brokers.ts'

const HEARTBEAT = { groupId: 'g', generationId: 1, memberId: 'm' }
const CALL = {
  timeoutMs: 3_000,
  retryLost: true,
  errorCodesOf: ({ errorCode }: ResponseBodies['Heartbeat']) => [errorCode],
}

describe('Cluster', () => {
  let kafka: TwoBrokers
  let cluster: Cluster

  beforeEach(async () => {
    kafka = new TwoBrokers()
    await kafka.start()
    cluster = newCluster()
  })

  afterEach(async () => {
    await cluster.close()
    await kafka.stop()
  })

  function newCluster(overrides: Partial<ClusterOptions> = {}): Cluster {
    return new Cluster({
      bootstrapServers: [kafka.addressOf(1)],
      clientId: 'unit',
      security: { protocol: 'PLAINTEXT' },
      clock: systemClock,
      logger: SILENT_LOGGER,
      requestTimeoutMs: 2_000,
      retryBackoffMs: 20,
      ...overrides,
    })
  }

  describe('connect', () => {
    it('learns the brokers and the transaction version', async () => {
      await cluster.connect(1_000)
      expect([...cluster.brokers.keys()]).to.deep.equal([1, 2])
      expect(cluster.transactionVersion).to.equal(2)
    })

    it('tries the bootstrap servers in turn', async () => {
      const dead = await FrameServer.listen()
      const bootstrapServers = [dead.address, kafka.addressOf(2)]
      await dead.close()
      await cluster.close()
      cluster = newCluster({ bootstrapServers })
      await cluster.connect(1_000)
      expect(cluster.brokers.size).to.equal(2)
    })

    it('gives up at the deadline with the servers and the last reason, and says so once meanwhile', async () => {
      const dead = await FrameServer.listen()
      const { address } = dead
      await dead.close()
      const warnings: object[] = []
      const logger: Logger = { ...SILENT_LOGGER, warn: fields => warnings.push(fields) }
      await cluster.close()
      cluster = newCluster({ bootstrapServers: [address], logger })
      const error = await rejectionOf(cluster.connect(300))
      expect(error.code).to.equal('BROKER_UNREACHABLE')
      expect(error.message).to.contain(`127.0.0.1:${String(address.port)}`)
      expect(error.message).to.contain('ECONNREFUSED')
      expect(warnings.length).to.equal(1)
    })

    it('does not wait where waiting cannot help', async () => {
      kafka.offered = { ranges: { TxnOffsetCommit: [0, 2] } }
      const error = await rejectionOf(cluster.connect(60_000))
      expect(error.code).to.equal('BROKER_TOO_OLD')
    })

    it('names the advertised address when only the bootstrap server can be reached', async () => {
      const dead = await FrameServer.listen()
      const { port } = dead
      await dead.close()
      kafka.addressOf = nodeId => ({ nodeId, host: '127.0.0.1', port })
      const error = await rejectionOf(cluster.connect(200))
      expect(error.code).to.equal('BROKER_UNREACHABLE')
      expect(error.message).to.match(
        /bootstrap server answers, but broker \d is not reached by the address it advertises/,
      )
    })
  })

  describe('topics', () => {
    it('come from the cache after the first question', async () => {
      kafka.topics = [topicAnswer('t', [{ leader: 2, epoch: 4 }])]
      expect((await cluster.topic('t'))?.partitions.length).to.equal(1)
      expect((await cluster.topic('t'))?.name).to.equal('t')
      expect(kafka.metadataRequests).to.deep.equal([['t']])
      expect(cluster.leaderOf({ topic: 't', partition: 0 })).to.deep.equal({ nodeId: 2, leaderEpoch: 4 })
    })

    it('that do not exist are absent', async () => {
      expect(await cluster.topic('nope')).to.equal(undefined)
      expect((await cluster.topics(['nope'])).size).to.equal(0)
    })

    it('that may not be seen are an error', async () => {
      kafka.topics = [topicAnswer('secret', [], { errorCode: 29 })]
      expect((await rejectionOf(cluster.topic('secret'))).code).to.equal('NOT_AUTHORIZED')
    })

    it('are asked of another broker when one is gone', async () => {
      await cluster.connect(1_000)
      kafka.topics = [topicAnswer('t', [{ leader: 2 }])]
      const address = kafka.addressOf.bind(kafka)
      const [first] = kafka.brokers
      const ports = [address(1), address(2)]
      kafka.addressOf = nodeId => ports[nodeId - 1] ?? address(2)
      await first?.close()
      expect((await cluster.topic('t'))?.name).to.equal('t')
      kafka.brokers.splice(0, 1)
    })
  })

  describe('connections', () => {
    it('are one per broker and purpose, opened once for callers at the same time', async () => {
      await cluster.connect(1_000)
      const [a, b] = await Promise.all([cluster.connection(2, 'produce'), cluster.connection(2, 'produce')])
      const other = await cluster.connection(2, 'fetch')
      expect(a).to.equal(b)
      expect(other).not.to.equal(a)
    })

    it('are opened again after they closed', async () => {
      await cluster.connect(1_000)
      const first = await cluster.connection(2, 'produce')
      first.destroy(new Error('cut'))
      const second = await cluster.connection(2, 'produce')
      expect(second).not.to.equal(first)
      expect(second.closed).to.equal(false)
    })

    it('to a dead broker are not tried in a tight loop', async () => {
      await cluster.connect(1_000)
      const two = kafka.brokers[1]
      const port = kafka.addressOf(2)
      kafka.addressOf = nodeId => (nodeId === 2 ? port : { ...port, nodeId: 1 })
      await two?.close()
      const startMs = systemClock.nowMs()
      for (let attempt = 0; attempt < 4; attempt += 1) {
        expect((await rejectionOf(cluster.connection(2, 'produce'))).code).to.equal('CONNECTION_LOST')
      }
      // 20 + 40 + 80 ms between four attempts.
      expect(systemClock.nowMs() - startMs).to.be.greaterThan(135)
      kafka.brokers.splice(1, 1)
    })

    it('to a broker that hangs up at once count as failed attempts', async () => {
      await cluster.connect(1_000)
      const startMs = systemClock.nowMs()
      for (let attempt = 0; attempt < 4; attempt += 1) {
        ;(await cluster.connection(2, 'produce')).destroy(new Error('hung up'))
      }
      expect(systemClock.nowMs() - startMs).to.be.greaterThan(135)
    })

    it('to a node that the cluster does not have are refused', async () => {
      await cluster.connect(1_000)
      expect((await rejectionOf(cluster.connection(9, 'produce'))).message).to.match(/no broker 9/)
    })

    it('tell of a later transaction version, but not of an earlier one that a lagging broker gives', async () => {
      kafka.offered = { transactionVersion: 0, featuresEpoch: 5 }
      await cluster.connect(1_000)
      expect(cluster.transactionVersion).to.equal(0)
      kafka.offered = { transactionVersion: 2, featuresEpoch: 6 }
      await cluster.connection(1, 'coordinator')
      expect(cluster.transactionVersion).to.equal(2)
      kafka.offered = { transactionVersion: 0, featuresEpoch: 5 }
      await cluster.connection(2, 'coordinator')
      expect(cluster.transactionVersion).to.equal(2)
    })

    it('end with the cluster, and no more are opened', async () => {
      await cluster.connect(1_000)
      const connection = await cluster.connection(1, 'fetch')
      await cluster.close()
      expect(connection.closed).to.equal(true)
      expect((await rejectionOf(cluster.connection(1, 'fetch'))).code).to.equal('NOT_RUNNING')
    })
  })

  describe('coordinators', () => {
    it('are looked up once, until they are forgotten', async () => {
      expect(await cluster.coordinator('group', 'g')).to.equal(1)
      expect(await cluster.coordinator('group', 'g')).to.equal(1)
      expect(kafka.findRequests).to.equal(1)
      cluster.forgetCoordinator('group', 'g')
      kafka.coordinators = [2]
      expect(await cluster.coordinator('group', 'g')).to.equal(2)
    })

    it('are looked up the old way where that is all a broker knows', async () => {
      kafka.offered = { ranges: { FindCoordinator: [0, 3] } }
      expect(await cluster.coordinator('transaction', 't')).to.equal(1)
    })

    it('are asked for again while there is none', async () => {
      kafka.coordinators = [-15, -15, -14, 2]
      expect(await cluster.coordinator('group', 'g')).to.equal(2)
    })

    it('are not asked for again without the right to know', async () => {
      kafka.coordinators = [-30]
      const error = await rejectionOf(cluster.coordinator('group', 'g'))
      expect(error.code).to.equal('NOT_AUTHORIZED')
      expect(kafka.findRequests).to.equal(1)
    })
  })

  describe('coordinatorCall', () => {
    it('follows a coordinator that moved', async () => {
      kafka.coordinators = [1, 2]
      kafka.heartbeats = { 1: [16] }
      const answer = await cluster.coordinatorCall('group', 'g', 'Heartbeat', HEARTBEAT, CALL)
      expect(answer.errorCode).to.equal(0)
      expect(kafka.heartbeatsSeen).to.deep.equal([1, 2])
    })

    it('waits for one that loads, without looking it up again', async () => {
      kafka.heartbeats = { 1: [14, 14, 27] }
      const answer = await cluster.coordinatorCall('group', 'g', 'Heartbeat', HEARTBEAT, CALL)
      expect(answer.errorCode).to.equal(27)
      expect(kafka.findRequests).to.equal(1)
    })

    it('sends a request whose answer was lost again only where that is allowed', async () => {
      kafka.heartbeats = { 1: ['cut', 0] }
      const answer = await cluster.coordinatorCall('group', 'g', 'Heartbeat', HEARTBEAT, CALL)
      expect(answer.errorCode).to.equal(0)

      kafka.heartbeats = { 1: ['cut', 0] }
      const once = { ...CALL, retryLost: false }
      const error = await rejectionOf(cluster.coordinatorCall('group', 'g', 'Heartbeat', HEARTBEAT, once))
      expect(error.code).to.equal('CONNECTION_LOST')
      expect(kafka.heartbeatsSeen.length).to.equal(3)
    })

    it('returns the last answer at the deadline', async () => {
      kafka.heartbeats = { 1: [16], 2: [16] }
      const call = { ...CALL, timeoutMs: 150 }
      const answer = await cluster.coordinatorCall('group', 'g', 'Heartbeat', HEARTBEAT, call)
      expect(answer.errorCode).to.equal(16)
    })

    it('is not stopped by a look-up that names a dead broker for a while', async () => {
      const dead = await FrameServer.listen()
      const { port } = dead
      await dead.close()
      await cluster.connect(1_000)
      const address = kafka.addressOf.bind(kafka)
      let lookups = 0
      kafka.addressOf = nodeId => (nodeId === 7 ? { nodeId, host: '127.0.0.1', port } : address(nodeId))
      kafka.coordinators = [7, 7, 2]
      const answer = await cluster.coordinatorCall('group', 'g', 'Heartbeat', HEARTBEAT, {
        ...CALL,
        errorCodesOf: response => {
          lookups = kafka.findRequests
          return [response.errorCode]
        },
      })
      expect(answer.errorCode).to.equal(0)
      expect(lookups).to.equal(3)
      expect(kafka.heartbeatsSeen).to.deep.equal([2])
    })
  })
})
