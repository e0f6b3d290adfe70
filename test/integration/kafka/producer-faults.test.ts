import { expect } from 'chai'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { TRANSACTION_BROKERS, uniqueName, useBroker } from '../../support/broker.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { committedOffsets } from '../../support/kafka-reader.ts'
import { GroupLoop } from './group-loop.ts'
import { answered, failureOf, ProducerRoom, valuesOf } from './producer-room.ts'

const TIMEOUT_MS = 20_000
/** Where an answer never comes: longer than any answer of a healthy broker takes, short enough to be waited for. */
const IMPATIENT = { requestTimeoutMs: 2_000 }

for (const kind of TRANSACTION_BROKERS) {
  const isProtocol2 = kind === 'tv2'

  describe(`producer behind a bad network (${kind})`, function () {
    this.timeout(60_000)
    const kafka = useBroker(kind)
    let room: ProducerRoom
    let proxy: KafkaProxy

    beforeEach(async () => {
      room = await ProducerRoom.open(kafka().bootstrapServers)
      proxy = await KafkaProxy.start(kafka())
    })

    afterEach(async () => {
      await room.close()
      await proxy.stop()
    })

    const aProducer: ProducerRoom['producer'] = async options => {
      const producer = await room.producer({ ...options }, proxy.bootstrapServers)
      producer.setAskGroup(() => Promise.resolve('ours'))
      return producer
    }

    it('learns a commit whose answer was lost, and goes on (I10)', async () => {
      const producer = await aProducer()
      room.append(producer, ['committed'])
      await producer.flush(TIMEOUT_MS)
      proxy.rule({ api: 'EndTxn', direction: 'response', action: { type: 'reset' }, times: 1 })

      const outcome = await producer.commitTransaction(TIMEOUT_MS)
      if (isProtocol2) {
        expect(outcome).to.equal('committed')
      } else {
        expect(outcome).to.equal('unknown')
        expect(producer.transaction.state).to.equal('unknown')
        expect(await producer.refence(TIMEOUT_MS)).to.equal('ours')
      }
      await room.commit(producer, ['next'])
      expect(await room.committed()).to.deep.equal(['committed', 'next'])
    })

    it('deals with a commit that never reached the broker', async () => {
      const producer = await aProducer(IMPATIENT)
      room.append(producer, ['in doubt'])
      await producer.flush(TIMEOUT_MS)
      proxy.rule({ api: 'EndTxn', direction: 'request', action: { type: 'drop' }, times: 1 })

      const outcome = await producer.commitTransaction(TIMEOUT_MS)
      if (!isProtocol2) expect(await producer.refence(TIMEOUT_MS)).to.equal('ours')
      await room.commit(producer, ['next'])
      expect([outcome, await room.committed()]).to.deep.equal(
        isProtocol2 ? ['committed', ['in doubt', 'next']] : ['unknown', ['next']],
      )
    })

    it('says unknown when no answer comes until the deadline', async () => {
      const producer = await aProducer()
      room.append(producer, ['in doubt'])
      await producer.flush(TIMEOUT_MS)
      const rule = proxy.rule({ api: 'EndTxn', direction: 'response', action: { type: 'reset' } })
      expect(await producer.commitTransaction(2_000)).to.equal('unknown')
      rule.remove()

      expect(await producer.refence(TIMEOUT_MS)).to.equal('ours')
      await room.commit(producer, ['next'])
      expect(await room.committed()).to.deep.equal(['in doubt', 'next'])
    })

    for (const late of ['commit', 'abort'] as const) {
      it(`is not hurt by a late EndTxn(${late}) in the middle of the next transaction (I9, F18)`, async () => {
        const producer = await aProducer(IMPATIENT)
        room.append(producer, ['first'])
        await producer.flush(TIMEOUT_MS)
        const held = proxy.rule({ api: 'EndTxn', direction: 'request', action: { type: 'hold' }, times: 1 })
        if (late === 'commit') {
          const outcome = await producer.commitTransaction(TIMEOUT_MS)
          expect(outcome).to.equal(isProtocol2 ? 'committed' : 'unknown')
          if (outcome === 'unknown') expect(await producer.refence(TIMEOUT_MS)).to.equal('ours')
        } else {
          await producer.abortTransaction(TIMEOUT_MS)
        }

        room.append(producer, ['half'])
        await producer.flush(TIMEOUT_MS)
        expect(held.fired).to.have.lengthOf(1)
        // As if the network had kept it until now: the client's own connection is long gone.
        const [exchange] = held.fired
        if (exchange === undefined) throw new Error('no EndTxn was held')
        const answer = await proxy.resend(exchange)
        expect(answer.errorCode, 'the late request is refused').not.to.equal(0)
        const visible = isProtocol2 && late === 'commit' ? ['first'] : []
        expect(await room.committed(), 'the open transaction stays invisible').to.deep.equal(visible)

        room.append(producer, ['other half'])
        await producer.flush(TIMEOUT_MS)
        expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
        expect(await room.committed()).to.deep.equal([...visible, 'half', 'other half'])
      })
    }

    it('sends again what was in flight on a connection that broke, without loss or duplicate (case 18)', async () => {
      const producer = await aProducer({ batchSizeBytes: 2_048 })
      const values = valuesOf(2_000, 'v', 40)
      const rule = proxy.rule({ api: 'Produce', direction: 'response', action: { type: 'reset' }, nth: 3 })
      await room.commit(producer, values)
      expect(rule.fired).to.have.lengthOf(1)
      expect(await room.written()).to.deep.equal(values)
      expect(await room.committed()).to.deep.equal(values)
    })

    it('sends again what never arrived, in order, with several batches and partitions in flight', async () => {
      const producer = await aProducer({ batchSizeBytes: 2_048 })
      const values = valuesOf(1_000, 'v', 40)
      const rule = proxy.rule({ api: 'Produce', direction: 'request', action: { type: 'reset' }, times: 3 })
      for (const partition of [0, 1, 2]) room.append(producer, values, partition)
      await room.commit(producer, [])
      expect(rule.fired).to.have.lengthOf(3)
      for (const partition of [0, 1, 2]) expect(await room.written(partition)).to.deep.equal(values)
    })

    for (const [code, name] of [
      [51, 'CONCURRENT_TRANSACTIONS'],
      [19, 'NOT_ENOUGH_REPLICAS'],
      [6, 'NOT_LEADER_OR_FOLLOWER'],
      [7, 'REQUEST_TIMED_OUT'],
    ] as const) {
      it(`recovers in order when the first of several batches is answered ${name}`, async () => {
        const producer = await aProducer({ batchSizeBytes: 2_048 })
        await room.commit(producer, ['before'])
        const rule = proxy.rule({ api: 'Produce', direction: 'request', times: 1, action: answered(code) })
        const values = valuesOf(500, 'v', 40)
        await room.commit(producer, values)
        expect(rule.fired).to.have.lengthOf(1)
        expect(await room.written()).to.deep.equal(['before', ...values])
      })
    }

    it('does not let the second batch take the place of the very first one, when only that one comes back', async () => {
      const producer = await aProducer({ batchSizeBytes: 2_048 })
      proxy.rule({ api: 'Produce', direction: 'request', times: 1, action: answered(6) })
      const values = valuesOf(500, 'v', 40)
      await room.commit(producer, values)
      expect(await room.written()).to.deep.equal(values)
    })

    it('keeps a late Produce of an aborted transaction out of the next one (F19)', async () => {
      const producer = await aProducer(IMPATIENT)
      await room.commit(producer, ['before'])
      const held = proxy.rule({ api: 'Produce', direction: 'request', action: { type: 'hold' }, times: 1 })
      room.append(producer, ['late'])
      producer.pump()
      await held.waitHeld()
      await producer.abortTransaction(6_000)

      room.append(producer, ['next'])
      await producer.flush(TIMEOUT_MS)
      const [exchange] = held.fired
      if (exchange === undefined) throw new Error('no Produce was held')
      const answer = await proxy.resend(exchange)
      expect(answer.responses[0]?.partitionResponses[0]?.errorCode).not.to.equal(0)
      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
      expect(await room.written()).to.deep.equal(['before', 'next'])
    })

    it('adds partitions again when the answer was lost', async () => {
      const producer = await aProducer()
      const rule = proxy.rule({ api: 'AddPartitionsToTxn', direction: 'response', action: { type: 'reset' }, times: 2 })
      await room.commit(producer, ['a'])
      await room.commit(producer, ['b'])
      expect(rule.fired).to.have.lengthOf(2)
      expect(await room.committed()).to.deep.equal(['a', 'b'])
    })

    it('takes a new epoch before the next transaction after an answer was lost (I9)', async () => {
      const producer = await aProducer()
      proxy.rule({ api: 'Produce', direction: 'response', action: { type: 'reset' }, times: 1 })
      await room.commit(producer, ['a'])
      const before = proxy.count('InitProducerId')
      await room.commit(producer, ['b'])
      // With protocol 2 every end of a transaction raises the epoch by itself.
      expect(proxy.count('InitProducerId') > before).to.equal(!isProtocol2)
      expect(await room.committed()).to.deep.equal(['a', 'b'])
    })

    it('refuses a late copy of AddPartitionsToTxn after an abort, though nothing has begun since (I9)', async () => {
      const producer = await aProducer()
      const held = proxy.rule({ api: 'AddPartitionsToTxn', direction: 'request', action: { type: 'hold' }, times: 1 })
      room.append(producer, ['aborted'])
      // Only the second copy has reached the broker by then.
      await producer.flush(TIMEOUT_MS)
      await producer.abortTransaction(TIMEOUT_MS)
      // While markers are being written any request is answered CONCURRENT_TRANSACTIONS, which would refuse nothing.
      expect(await room.committed()).to.deep.equal([])

      const [exchange] = held.fired
      if (exchange === undefined) throw new Error('no AddPartitionsToTxn was held')
      const { resultsByTopicV3AndBelow: topics } = await proxy.resend(exchange)
      const codes = topics.flatMap(topic => topic.resultsByPartition.map(result => result.partitionErrorCode))
      expect(codes, 'the late copy is refused').to.have.lengthOf(1).and.not.include(0)
      const described = await room.admin.describeTransactions([room.transactionalId])
      expect(described.get(room.transactionalId)?.state, 'nothing is open').not.to.equal('Ongoing')
      await room.commit(producer, ['next'])
      expect(await room.committed()).to.deep.equal(['next'])
    })

    it('asks before it believes that an id the broker does not know belongs to another process', async () => {
      const producer = await aProducer()
      room.append(producer, ['aborted'])
      await producer.flush(TIMEOUT_MS)
      const rule = proxy.rule({
        api: 'EndTxn',
        direction: 'request',
        times: 1,
        action: {
          type: 'answer',
          body: () => ({ throttleTimeMs: 0, errorCode: 49, producerId: -1, producerEpoch: -1 }),
        },
      })
      const before = proxy.count('InitProducerId')
      await producer.abortTransaction(TIMEOUT_MS)
      expect(rule.fired).to.have.lengthOf(1)
      expect(proxy.count('InitProducerId')).to.be.greaterThan(before)
      expect(producer.transaction.state).to.equal('idle')
      await room.commit(producer, ['next'])
      expect(await room.committed()).to.deep.equal(['next'])
    })

    it('sends offsets again when the answer was lost', async () => {
      const loop = await GroupLoop.start({
        bootstrapServers: kafka().bootstrapServers,
        groupId: uniqueName('group'),
        topic: room.topic,
      })
      try {
        await loop.owns(4)
        const { membership } = loop.member
        if (membership === undefined) throw new Error('not a member')
        const producer = await aProducer()
        const rule = proxy.rule({ api: 'TxnOffsetCommit', direction: 'response', action: { type: 'reset' }, times: 1 })
        const offsets = new TopicPartitionMap([
          [
            { topic: room.topic, partition: 1 },
            { offset: 9, leaderEpoch: -1, metadata: '' },
          ],
        ])
        expect(await producer.sendOffsets(loop.groupId, membership, offsets, TIMEOUT_MS)).to.equal('done')
        expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
        expect(rule.fired).to.have.lengthOf(1)
        const committed = await committedOffsets(kafka().bootstrapServers, loop.groupId)
        expect(committed.map(({ partition, offset }) => [partition, offset])).to.deep.equal([[1, 9]])
      } finally {
        await loop.kill()
      }
    })

    it('gets its producer id although answers are lost', async () => {
      const rule = proxy.rule({ api: 'InitProducerId', direction: 'response', action: { type: 'reset' }, times: 2 })
      const producer = await aProducer()
      expect(rule.fired).to.have.lengthOf(2)
      await room.commit(producer, ['a'])
      expect(await room.committed()).to.deep.equal(['a'])
    })

    it('sends no request to end a transaction in which nothing was written', async () => {
      const producer = await aProducer()
      await producer.flush(TIMEOUT_MS)
      expect(await producer.commitTransaction(TIMEOUT_MS)).to.equal('committed')
      await producer.abortTransaction(TIMEOUT_MS)
      expect(proxy.count('EndTxn')).to.equal(0)
    })

    it('gives a batch up at its deadline, and writes on once the network heals', async () => {
      const producer = await aProducer({ deliveryTimeoutMs: 4_000, requestTimeoutMs: 1_500 })
      await room.commit(producer, ['before'])
      const rule = proxy.rule({ api: 'Produce', direction: 'request', action: { type: 'drop' } })
      room.append(producer, ['lost'])
      const failure = await failureOf(producer.flush(TIMEOUT_MS))
      expect(failure).to.include({ code: 'REQUEST_TIMED_OUT', reaction: 'refence' })
      rule.remove()
      await producer.abortTransaction(TIMEOUT_MS)
      await room.commit(producer, ['after'])
      expect(await room.written()).to.deep.equal(['before', 'after'])
    })
  })
}
