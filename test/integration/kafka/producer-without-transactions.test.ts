import { expect } from 'chai'
import { type BrokerKind, useBroker } from '../../support/broker.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { answered, failureOf, ProducerRoom, valuesOf } from './producer-room.ts'

const TIMEOUT_MS = 20_000
const BROKERS: readonly BrokerKind[] = ['tv2', '3.9.1']
const IDEMPOTENT = { transactionalId: undefined }
const PLAIN = { transactionalId: undefined, idempotent: false }

for (const kind of BROKERS) {
  describe(`producer without transactions, on a real broker (${kind})`, function () {
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

    it('writes at once visible records, idempotently', async () => {
      const producer = await room.producer(IDEMPOTENT)
      const values = valuesOf(5_000, 'v')
      room.append(producer, values)
      await producer.flush(TIMEOUT_MS)
      expect(await room.committed()).to.deep.equal(values)
      expect(producer.transaction).to.include({ state: 'idle', ongoing: false, records: 0 })
    })

    it('writes nothing twice when connections break with batches in flight', async () => {
      const producer = await room.producer({ ...IDEMPOTENT, batchSizeBytes: 2_048 }, proxy.bootstrapServers)
      proxy.rule({ api: 'Produce', direction: 'response', action: { type: 'reset' }, nth: 2 })
      proxy.rule({ api: 'Produce', direction: 'request', action: { type: 'reset' }, nth: 9 })
      const values = valuesOf(2_000, 'v', 40)
      room.append(producer, values)
      await producer.flush(TIMEOUT_MS)
      expect(await room.written()).to.deep.equal(values)
    })

    it('does not let the second batch take the place of the very first one, when only that one comes back', async () => {
      const producer = await room.producer({ ...IDEMPOTENT, batchSizeBytes: 2_048 }, proxy.bootstrapServers)
      proxy.rule({ api: 'Produce', direction: 'request', times: 1, action: answered(6) })
      const values = valuesOf(500, 'v', 40)
      room.append(producer, values)
      await producer.flush(TIMEOUT_MS)
      expect(await room.written()).to.deep.equal(values)
    })

    it('takes a new id after it gave batches up, so that the next ones are accepted', async () => {
      const producer = await room.producer(
        { ...IDEMPOTENT, requestTimeoutMs: 1_500, deliveryTimeoutMs: 3_000 },
        proxy.bootstrapServers,
      )
      room.append(producer, ['before'])
      await producer.flush(TIMEOUT_MS)
      const rule = proxy.rule({ api: 'Produce', direction: 'request', action: { type: 'drop' } })
      room.append(producer, ['given up'])
      expect((await failureOf(producer.flush(TIMEOUT_MS))).code).to.equal('REQUEST_TIMED_OUT')
      rule.remove()
      await producer.abortTransaction(TIMEOUT_MS)
      room.append(producer, ['after'])
      await producer.flush(TIMEOUT_MS)
      expect(await room.written()).to.deep.equal(['before', 'after'])
    })

    it('has no transactions to end', async () => {
      const producer = await room.producer(IDEMPOTENT)
      expect((await failureOf(producer.commitTransaction(1_000))).code).to.equal('USAGE')
    })

    it('drops and counts a batch without an answer rather than writing it twice, when not idempotent', async () => {
      const dropped: [string, number, number, string][] = []
      const producer = await room.producer(
        {
          ...PLAIN,
          onDropped: (topic, partition, records, cause) => dropped.push([topic, partition, records, cause.code]),
        },
        proxy.bootstrapServers,
      )
      room.append(producer, ['before'], 1)
      await producer.flush(TIMEOUT_MS)
      proxy.rule({ api: 'Produce', direction: 'response', action: { type: 'reset' }, nth: 1 })
      room.append(producer, ['a', 'b', 'c'], 1)
      await producer.flush(TIMEOUT_MS)
      room.append(producer, ['d'], 1)
      await producer.flush(TIMEOUT_MS)

      expect(dropped).to.deep.equal([[room.topic, 1, 3, 'CONNECTION_LOST']])
      expect(await room.written(1)).to.deep.equal(['before', 'a', 'b', 'c', 'd'])
    })

    it('drops and counts what the topic refuses, and goes on, when not idempotent', async () => {
      const narrow = await ProducerRoom.open(kafka().bootstrapServers, { configs: { 'max.message.bytes': '1000' } })
      let dropped = 0
      const producer = await narrow.producer({
        ...PLAIN,
        onDropped: (_topic, _partition, records) => {
          dropped += records
        },
      })
      narrow.append(producer, ['x'.repeat(2_000)])
      await producer.flush(TIMEOUT_MS)
      narrow.append(producer, ['small'])
      await producer.flush(TIMEOUT_MS)
      expect(dropped).to.equal(1)
      expect(await narrow.written()).to.deep.equal(['small'])
      await narrow.close()
    })
  })
}
