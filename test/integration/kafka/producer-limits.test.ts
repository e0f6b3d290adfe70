import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import type { CompressionType } from '../../../src/kafka/records/compression.ts'
import { prepareCompression } from '../../../src/kafka/records/compression.ts'
import { useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { failureOf, ProducerRoom, valuesOf } from './producer-room.ts'

const TIMEOUT_MS = 20_000

describe('producer at its limits, on a real broker', function () {
  this.timeout(60_000)
  const kafka = useBroker('tv2')
  const rooms: ProducerRoom[] = []

  afterEach(async () => {
    await Promise.all(rooms.splice(0).map(room => room.close()))
  })

  async function aRoom(configs: Readonly<Record<string, string>> = {}): Promise<ProducerRoom> {
    const room = await ProducerRoom.open(kafka().bootstrapServers, { configs })
    rooms.push(room)
    return room
  }

  it('cuts batches smaller until they fit a topic whose limit it did not know (case 17)', async () => {
    const room = await aRoom({ 'max.message.bytes': '20000' })
    const producer = await room.producer()
    const values = valuesOf(1_000, 'v', 60)
    let attempts = 0
    for (let committed = false; !committed; attempts += 1) {
      room.append(producer, values)
      try {
        await room.commit(producer, [])
        committed = true
      } catch {
        expect(producer.failure).to.include({ code: 'RECORD_TOO_LARGE', reaction: 'abort' })
        await producer.abortTransaction(TIMEOUT_MS)
      }
    }
    expect(attempts).to.equal(5)
    expect(await room.committed()).to.deep.equal(values)
  })

  it('refuses a single record that the topic has refused when it comes again, and writes on after the abort', async () => {
    const room = await aRoom({ 'max.message.bytes': '5000' })
    const producer = await room.producer()
    room.append(producer, ['x'.repeat(10_000)], 2)
    const failure = await failureOf(producer.flush(TIMEOUT_MS))
    expect(failure).to.include({ code: 'RECORD_TOO_LARGE', reaction: 'abort' })
    expect(failure.details).to.include({ topic: room.topic, partition: 2, kafkaCode: 10 })
    await producer.abortTransaction(TIMEOUT_MS)
    // Now it is a matter of the record that is being processed.
    expect(() => {
      room.append(producer, ['x'.repeat(10_000)], 2)
    })
      .to.throw(MillraceError)
      .with.property('code', 'RECORD_TOO_LARGE')
    await room.commit(producer, ['small'], 2)
    expect(await room.committed(2)).to.deep.equal(['small'])
  })

  it('sends a record as large as the topic takes, registered as such', async () => {
    const room = await aRoom({ 'max.message.bytes': '3000000' })
    const producer = await room.producer()
    producer.register(room.topic, { maxMessageBytes: 3_000_000 })
    const large = 'x'.repeat(2_900_000)
    await room.commit(producer, ['before', large, 'after'])
    expect(await room.committed()).to.deep.equal(['before', large, 'after'])
  })

  it('refuses a record by CreateTime only where the broker does, as a matter of one record', async () => {
    const room = await aRoom({ 'message.timestamp.after.max.ms': '1000' })
    const producer = await room.producer()
    const { NO_HEADERS } = await import('../../../src/model/headers.ts')
    producer.records.append(
      producer.records.topic(room.topic),
      0,
      null,
      Buffer.from('future'),
      Date.now() + 3_600_000,
      NO_HEADERS,
    )
    const failure = await failureOf(producer.flush(TIMEOUT_MS))
    expect(failure.code).to.equal('RECORD_REFUSED')
    expect(failure.details).to.include({ topic: room.topic, partition: 0, kafkaCode: 32 })
    await producer.abortTransaction(TIMEOUT_MS)
  })

  it('holds the writer up while buffer.memory is used up, and loses nothing', async () => {
    const room = await aRoom()
    const producer = await room.producer({ bufferMemoryBytes: 200_000, batchSizeBytes: 16_384 })
    const values = valuesOf(20_000, 'v', 100)
    let waits = 0
    for (const value of values) {
      room.append(producer, [value])
      if (!producer.bufferFull) continue
      waits += 1
      await producer.whenBufferFree()
      expect(producer.bufferFull).to.equal(false)
    }
    await room.commit(producer, [])
    expect(waits).to.be.greaterThan(5)
    expect(await room.committed()).to.deep.equal(values)
  })

  it('gives up waiting for room after max.block.ms', async () => {
    const room = await aRoom()
    const proxy = await KafkaProxy.start(kafka())
    try {
      const producer = await room.producer({ bufferMemoryBytes: 10_000, maxBlockMs: 500 }, proxy.bootstrapServers)
      const held = proxy.rule({ api: 'Produce', direction: 'request', action: { type: 'hold' } })
      room.append(producer, ['x'.repeat(20_000)])
      expect((await failureOf(producer.whenBufferFree())).code).to.equal('REQUEST_TIMED_OUT')
      held.remove()
      held.release()
      await room.commit(producer, [])
      expect(await room.committed()).to.have.lengthOf(1)
    } finally {
      await proxy.stop()
    }
  })

  it('sends a batch that waited for linger.ms without being asked', async () => {
    const room = await aRoom()
    const producer = await room.producer({ lingerMs: 30 })
    room.append(producer, ['by itself'])
    producer.pump()
    await eventually('the record is written', async () => (await room.written()).length === 1)
    expect(await room.committed()).to.deep.equal([])
  })

  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd'] satisfies CompressionType[]) {
    it(`writes ${codec} that the Java client reads`, async () => {
      await prepareCompression()
      const room = await aRoom()
      const producer = await room.producer({ compression: codec })
      const values = valuesOf(5_000, 'compressible', 100)
      await room.commit(producer, values, 1)
      expect(await room.committedForJava(1)).to.deep.equal(values)
    })
  }

  it('refuses every call after its close', async () => {
    const room = await aRoom()
    const producer = await room.producer()
    await producer.close(1_000)
    expect((await failureOf(producer.flush(1_000))).code).to.equal('NOT_RUNNING')
  })

  it('stops with the reason when its transaction timeout is above what the broker allows (case 25)', async () => {
    const room = await aRoom()
    const producer = await room.newProducer({ transactionTimeoutMs: 3_600_000 })
    const failure = await failureOf(producer.initialize())
    expect(failure).to.include({ code: 'CONFIG_CONFLICT', reaction: 'stop' })
    expect(failure.message).to.include('INVALID_TRANSACTION_TIMEOUT')
  })
})
