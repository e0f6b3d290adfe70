import { expect } from 'chai'
import type { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import { TRANSACTION_BROKERS, uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { leaveHanging } from '../../support/hanging-transaction.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'

const partitionsOf = (topic: string): { topic: string; partition: number }[] =>
  [0, 1].map(partition => ({ topic, partition }))

for (const kind of TRANSACTION_BROKERS) {
  describe(`open transactions on partitions (${kind})`, function () {
    this.timeout(60_000)
    const kafka = useBroker(kind)
    let admin: Admin
    let cluster: Cluster

    before(async () => {
      ;({ admin, cluster } = await adminOf(kafka()))
    })

    after(() => cluster.close())

    async function newTopic(): Promise<string> {
      const name = uniqueName('open')
      await admin.createTopics([{ name, partitions: 2, replicationFactor: 1, configs: {} }])
      return name
    }

    it('name the producer, its id and where readers stand, until they end', async () => {
      const topic = await newTopic()
      const transactionalId = uniqueName('writer')
      const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'transactional.id': transactionalId })
      await writer.transaction(topic, [{ partition: 1, value: 'before' }], 'commit')
      await writer.begin()
      await writer.write(topic, [{ partition: 1, value: 'open' }])
      const [open, ...more] = await admin.openTransactions(partitionsOf(topic))
      expect(more).to.deep.equal([])
      expect(open).to.deep.include({ topicPartition: { topic, partition: 1 }, startOffset: 2, hanging: false })
      expect(open?.owner).to.include({ transactionalId, state: 'Ongoing' })
      expect(open?.owner?.producerId).to.equal(open?.producerId)
      await writer.commit()
      await eventually('nothing is open', async () => (await admin.openTransactions(partitionsOf(topic))).length === 0)
      await writer.close()
    })

    it('hang when no coordinator knows of them, until a marker is written for them', async () => {
      const topic = await newTopic()
      const place = { topic, partition: 0 }
      const transactionalId = uniqueName('hanging')
      const left = await leaveHanging({ admin, cluster }, place, transactionalId)
      const [open] = await admin.openTransactions(partitionsOf(topic))
      expect(open).to.deep.include({ topicPartition: place, hanging: true, ...left })
      if (open === undefined) throw new Error('nothing is open')
      await admin.fenceTransaction(transactionalId)
      expect(await admin.openTransactions([place]), 'its id cannot help').to.have.length(1)
      await admin.abortOnPartition(open)
      expect(await admin.openTransactions([place])).to.deep.equal([])
      const ends = await admin.listOffsets([place], 'latest', 'read_uncommitted')
      const stable = await admin.listOffsets([place], 'latest', 'read_committed')
      expect(stable.get(place))
        .to.equal(ends.get(place))
        .and.to.equal(left.startOffset + 2)
    })
  })
}
