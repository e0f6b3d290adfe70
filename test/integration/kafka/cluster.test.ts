import { expect } from 'chai'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import { TRANSACTION_BROKERS, uniqueName, useBroker, type BrokerKind } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { clusterOf } from '../../support/kafka-client.ts'

const EXPECTED: Partial<Record<BrokerKind, { transactionVersion: number; endTxn: number; produce: number }>> = {
  tv2: { transactionVersion: 2, endTxn: 5, produce: 12 },
  tv0: { transactionVersion: 0, endTxn: 4, produce: 11 },
  '3.9.1': { transactionVersion: 0, endTxn: 4, produce: 11 },
}

for (const kind of TRANSACTION_BROKERS) {
  describe(`a cluster (${kind})`, function () {
    this.timeout(60_000)
    const kafka = useBroker(kind)
    let cluster: Cluster

    beforeEach(async () => {
      cluster = clusterOf(kafka())
      await cluster.connect(20_000)
    })

    afterEach(() => cluster.close())

    it('has the transaction version that was finalized, and requests to match', async () => {
      const { apiVersions } = await cluster.anyConnection('control')
      expect({
        transactionVersion: cluster.transactionVersion,
        endTxn: apiVersions.best('EndTxn'),
        produce: apiVersions.best('Produce'),
      }).to.deep.equal(EXPECTED[kind])
    })

    it('finds the coordinators of new groups and transactional ids', async () => {
      expect(await cluster.coordinator('group', uniqueName('group'))).to.equal(1)
      expect(await cluster.coordinator('transaction', uniqueName('id'))).to.equal(1)
    })

    it('does not create a topic by asking for it', async () => {
      const topic = uniqueName('absent')
      expect(await cluster.topic(topic)).to.equal(undefined)
      const names = (await new Admin(cluster, { clock: systemClock }).listTopics()).map(({ name }) => name)
      expect(names).not.to.include(topic)
    })
  })
}

describe('a connection to a paused broker', function () {
  this.timeout(60_000)
  const kafka = useBroker('tv2')

  it('times out by its own deadline, is closed, and is replaced once the broker goes on', async () => {
    const cluster = clusterOf(kafka())
    await cluster.connect(20_000)
    try {
      const connection = await cluster.connection(1, 'produce')
      kafka().kill(1, 'SIGSTOP')
      try {
        // The signal takes a moment: requests are answered until it has come.
        await eventually('a request is not answered', async () => {
          const sending = connection.send('Metadata', { topics: [] }, { timeoutMs: 300 })
          await sending.catch(() => undefined)
          return connection.closed
        })
      } finally {
        kafka().kill(1, 'SIGCONT')
      }
      expect(connection.closeCause?.code).to.equal('REQUEST_TIMED_OUT')
      const next = await cluster.connection(1, 'produce')
      expect((await next.send('Metadata', { topics: [] })).brokers.length).to.equal(1)
    } finally {
      await cluster.close()
    }
  })
})

describe('a cluster of three brokers', function () {
  this.timeout(120_000)
  const kafka = useBroker('three')

  it('follows the leader, the group coordinator and the transaction coordinator when a broker stops', async () => {
    const cluster = clusterOf(kafka())
    await cluster.connect(20_000)
    const admin = new Admin(cluster, { clock: systemClock })
    const topic = uniqueName('moving')
    const [group, id] = [uniqueName('group'), uniqueName('id')]
    try {
      await admin.createTopics([{ name: topic, partitions: 3, replicationFactor: 3, configs: {} }])
      const partitions = [0, 1, 2].map(partition => ({ topic, partition }))
      const leaders = partitions.map(partition => cluster.leaderOf(partition)?.nodeId)
      expect(new Set(leaders).size).to.equal(3)
      await admin.fenceTransaction(id)
      const stopped = await cluster.coordinator('transaction', id)
      await cluster.coordinator('group', group)

      kafka().kill(stopped, 'SIGKILL')
      await kafka().ended(stopped)
      const ends = await admin.listOffsets(partitions, 'latest', 'read_committed')
      expect([...ends.values()]).to.deep.equal([0, 0, 0])
      for (const partition of partitions) expect(cluster.leaderOf(partition)?.nodeId).not.to.equal(stopped)
      expect((await admin.describeTransactions([id])).get(id)?.state).to.equal('Empty')
      expect((await admin.describeGroup(group)).state).to.equal('Dead')
      expect(await cluster.coordinator('transaction', id)).not.to.equal(stopped)
    } finally {
      for (const { id: node, running } of kafka().nodes) if (!running) await kafka().startNode(node)
      await eventually(
        'all brokers are back',
        async () => {
          await cluster.refresh()
          return cluster.brokers.size === 3
        },
        30_000,
      )
      await cluster.close()
    }
  })
})
