import { expect } from 'chai'
import type { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { TRANSACTION_BROKERS, uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { rejectionOf } from '../../support/rejection.ts'

for (const kind of TRANSACTION_BROKERS) {
  describe(`an administrator (${kind})`, function () {
    this.timeout(60_000)
    const kafka = useBroker(kind)
    let admin: Admin
    let cluster: Cluster

    before(async () => {
      ;({ admin, cluster } = await adminOf(kafka()))
    })

    after(() => cluster.close())

    async function newTopic(partitions = 2, configs: Record<string, string> = {}): Promise<string> {
      const name = uniqueName('admin')
      await admin.createTopics([{ name, partitions, replicationFactor: 1, configs }])
      return name
    }

    it('creates topics that can be used at once, with their configuration', async () => {
      const topic = await newTopic(3, { 'cleanup.policy': 'compact', 'max.message.bytes': '2000000' })
      expect(cluster.leaderOf({ topic, partition: 2 })?.nodeId).to.equal(1)
      const configs = (await admin.describeTopicConfigs([topic])).get(topic)
      expect(configs?.get('cleanup.policy')).to.equal('compact')
      expect(configs?.get('max.message.bytes')).to.equal('2000000')
      expect(await admin.listTopics()).to.deep.include({ name: topic, internal: false, partitions: 3 })
    })

    it('keeps a topic that exists, or fails for it when asked to', async () => {
      const name = await newTopic(2)
      const again = [{ name, partitions: 5, replicationFactor: 1, configs: {} }]
      await admin.createTopics(again)
      expect((await cluster.topic(name))?.partitions.length).to.equal(2)
      const error = await rejectionOf(admin.createTopics(again, 5_000, { existing: 'fail' }))
      expect(error.message).to.match(/Cannot create the topic .*TOPIC_ALREADY_EXISTS/)
    })

    it('passes the text of the broker on when it refuses a topic', async () => {
      const topics = [{ name: uniqueName('bad'), partitions: 1, replicationFactor: 9, configs: {} }]
      const error = await rejectionOf(admin.createTopics(topics, 5_000))
      expect(error.code).to.equal('KAFKA_ERROR')
      expect(error.reaction).to.equal('stop')
      expect(error.message).to.match(/INVALID_REPLICATION_FACTOR: .*replicat/i)
    })

    it('grows, configures and deletes a topic', async () => {
      const topic = await newTopic(1)
      await admin.createPartitions(topic, 3)
      expect((await cluster.topic(topic))?.partitions.length).to.equal(3)
      await admin.alterConfigs({ type: 'topic', name: topic }, { set: { 'retention.ms': '1234' } })
      // The controller answers before the brokers have taken the change over.
      await eventually(
        'the configuration is changed',
        async () => (await admin.describeTopicConfigs([topic])).get(topic)?.get('retention.ms') === '1234',
      )
      await admin.deleteTopics([topic, uniqueName('absent')])
      await eventually('the topic is gone', async () => (await admin.listTopics()).every(({ name }) => name !== topic))
      expect(await cluster.topic(topic)).to.equal(undefined)
    })

    it('names a topic that is missing', async () => {
      const topic = uniqueName('missing')
      const offsets = await rejectionOf(admin.listOffsets([{ topic, partition: 0 }], 'latest', 'read_committed'))
      expect([offsets.code, offsets.details.topic]).to.deep.equal(['TOPIC_MISSING', topic])
      const configs = await rejectionOf(admin.describeTopicConfigs([topic]))
      expect([configs.code, configs.details.topic]).to.deep.equal(['TOPIC_MISSING', topic])
    })

    it('reads the configuration of a broker', async () => {
      expect((await admin.describeBrokerConfig()).get('transaction.max.timeout.ms')).to.equal('900000')
    })

    it('tells start, end, last stable offset and offsets by time, and deletes records', async () => {
      const topic = await newTopic(2)
      const [first, second] = [0, 1].map(partition => ({ topic, partition }))
      if (first === undefined || second === undefined) throw new Error('unreachable')
      const plain = await KafkaWriter.open(kafka().bootstrapServers)
      await plain.write(
        topic,
        [1_000, 2_000, 3_000].map(timestamp => ({ partition: 0, timestamp, value: 'v' })),
      )
      const open = await KafkaWriter.open(kafka().bootstrapServers, { 'transactional.id': uniqueName('id') })
      await open.begin()
      await open.write(topic, [{ partition: 0, timestamp: 4_000, value: 'uncommitted' }])
      try {
        const at = async (...how: Parameters<Admin['listOffsets']> extends [unknown, ...infer R] ? R : never) =>
          [...(await admin.listOffsets([second, first], ...how))]
            .toSorted(([a], [b]) => a.partition - b.partition)
            .map(([, offset]) => offset)
        expect(await at('latest', 'read_uncommitted')).to.deep.equal([4, 0])
        expect(await at('latest', 'read_committed')).to.deep.equal([3, 0])
        expect(await at({ timestamp: 1_500 }, 'read_uncommitted')).to.deep.equal([1, -1])

        const deleted = await admin.deleteRecords(new TopicPartitionMap([[first, 2]]))
        expect(deleted.get(first)).to.equal(2)
        expect(await at('earliest', 'read_uncommitted')).to.deep.equal([2, 0])
      } finally {
        await open.abort()
      }
    })

    it('shows an open transaction with its partitions and producer, and fences its owner', async () => {
      const topic = await newTopic(1)
      const id = uniqueName('id')
      const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'transactional.id': id })
      await writer.begin()
      await writer.write(topic, [{ partition: 0, value: 'v' }])
      const listed = (await admin.listTransactions({ states: ['Ongoing'] })).find(each => each.transactionalId === id)
      const described = (await admin.describeTransactions([id, uniqueName('none')])).get(id)
      const producers = (await admin.describeProducers([{ topic, partition: 0 }])).get({ topic, partition: 0 })
      expect(listed?.state).to.equal('Ongoing')
      expect(described?.partitions).to.deep.equal([{ topic, partition: 0 }])
      expect(described?.producerId).to.equal(listed?.producerId)
      expect(
        producers?.map(({ producerId, transactionStartOffset }) => [producerId, transactionStartOffset]),
      ).to.deep.equal([[listed?.producerId, 0]])

      await admin.fenceTransaction(id)
      const after = (await admin.describeTransactions([id])).get(id)
      expect(after?.state).to.equal('Empty')
      const end = await admin.listOffsets([{ topic, partition: 0 }], 'latest', 'read_committed')
      expect(end.get({ topic, partition: 0 })).to.equal(2)
    })

    it('sets, reads and deletes the offsets of a group without members', async () => {
      const topic = await newTopic(2)
      const group = uniqueName('group')
      const committed = { offset: 5, leaderEpoch: 0, metadata: 'note' }
      await admin.alterGroupOffsets(group, new TopicPartitionMap([[{ topic, partition: 1 }, committed]]))
      expect([...(await admin.committedOffsets(group))]).to.deep.equal([[{ topic, partition: 1 }, committed]])
      const some = await admin.committedOffsets(group, [{ topic, partition: 0 }])
      expect(some.size).to.equal(0)
      expect((await admin.describeGroup(group)).state).to.equal('Empty')
      expect((await admin.listGroups()).map(({ groupId }) => groupId)).to.include(group)
      expect(await admin.deleteGroup(group)).to.equal(true)
      expect(await admin.deleteGroup(group)).to.equal(false)
    })
  })
}
