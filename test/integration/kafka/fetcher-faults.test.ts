import { expect } from 'chai'
import type { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy, type RuleHandle } from '../../support/kafka-proxy.ts'
import { KafkaWriter, type RecordToWrite } from '../../support/kafka-writer.ts'
import { connectCluster, createTopic } from '../../support/test-cluster.ts'
import { FetchLoop } from './fetch-loop.ts'

function numbered(from: number, count: number, partition = 0): RecordToWrite[] {
  return Array.from({ length: count }, (_, index) => ({ partition, value: `v${String(from + index)}` }))
}

function valuesTo(count: number): string[] {
  return numbered(0, count).map(({ value }) => String(value))
}

describe('the fetcher behind a bad network', function () {
  this.timeout(60_000)
  const kafka = useBroker('tv2')
  let proxy: KafkaProxy
  let admin: Admin
  let direct: Cluster
  let cluster: Cluster
  let loop: FetchLoop
  let topic: string
  let writer: KafkaWriter

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    const outside = await connectCluster(kafka().bootstrapServers)
    direct = outside.cluster
    admin = outside.admin
    cluster = (await connectCluster(proxy.bootstrapServers, { requestTimeoutMs: 1_500 })).cluster
    topic = uniqueName('faults')
    await createTopic(admin, topic)
    writer = await KafkaWriter.open(kafka().bootstrapServers, { 'client.id': topic })
  })

  afterEach(async () => {
    await loop.fetcher.close()
    await writer.close()
    await cluster.close()
    await direct.close()
    await proxy.stop()
    expect(proxy.failures).to.deep.equal([])
  })

  it('loses and repeats nothing when connections are reset again and again (F20)', async () => {
    const rule = proxy.rule({
      api: 'Fetch',
      direction: 'response',
      action: [{ type: 'slice', bytes: 100 }, { type: 'reset' }],
      times: 6,
      when: ({ correlationId }) => correlationId % 3 === 0,
    })
    loop = new FetchLoop(cluster, { partitionMaxBytes: 500 }).add(topic)
    for (let batch = 0; batch < 40; batch += 1) await writer.write(topic, numbered(batch * 5, 5))
    await loop.untilPosition(topic, 0, 200, 30_000)
    await writer.write(topic, numbered(200, 5))
    await loop.untilPosition(topic, 0, 205, 30_000)

    expect(loop.values()).to.deep.equal(valuesTo(205))
    expect(rule.fired.length).to.be.greaterThan(0)
  })

  it('gives up a poll that is never answered, and goes on over a new connection (F20)', async () => {
    const rule = proxy.rule({ api: 'Fetch', direction: 'response', action: { type: 'hold' }, nth: 2 })
    await writer.write(topic, numbered(0, 5))
    loop = new FetchLoop(cluster).add(topic)
    await rule.waitHeld()
    await writer.write(topic, numbered(5, 5))
    await loop.untilPosition(topic, 0, 10)
    rule.release()
    await writer.write(topic, numbered(10, 5))
    await loop.untilPosition(topic, 0, 15)

    expect(loop.values()).to.deep.equal(valuesTo(15))
    expect(loop.failures).to.deep.equal([])
  })

  it('takes answers in tiny pieces (F22)', async () => {
    proxy.rule({ api: 'Fetch', direction: 'response', action: { type: 'slice', bytes: 7 } })
    await writer.write(topic, numbered(0, 20))
    loop = new FetchLoop(cluster).add(topic)
    await loop.untilPosition(topic, 0, 20)

    expect(loop.values()).to.deep.equal(valuesTo(20))
  })

  it('asks for less where an answer cannot come in time over a slow link (F22)', async () => {
    const rule = proxy.rule({
      api: 'Fetch',
      direction: 'response',
      action: { type: 'throttle', bytesPerSecond: 80_000 },
    })
    const records = numbered(0, 250).map(({ value }) => ({ value: `${String(value)};`.padEnd(1_000, '.') }))
    await writer.write(topic, records)
    loop = new FetchLoop(cluster).add(topic)
    await loop.untilPosition(topic, 0, 250, 30_000)

    expect(loop.values()).to.deep.equal(records.map(({ value }) => value))
    expect(loop.failures).to.deep.equal([])
    expect(rule.fired.length).to.be.greaterThan(1)
  })

  it('goes on after every code that passes, in the order of offsets', async () => {
    const codes = [6, 56, 74, 75, 3, 100, -1]
    const rule: RuleHandle<'Fetch'> = proxy.rule({
      api: 'Fetch',
      direction: 'response',
      times: codes.length,
      action: {
        type: 'rewrite',
        body: response => ({
          ...response,
          responses: response.responses.map(one => ({
            ...one,
            partitions: one.partitions.map(partition => ({
              ...partition,
              errorCode: codes[rule.fired.length - 1] ?? 0,
              records: Buffer.alloc(0),
            })),
          })),
        }),
      },
    })
    await writer.write(topic, numbered(0, 10))
    loop = new FetchLoop(cluster).add(topic)
    await loop.untilPosition(topic, 0, 10, 30_000)

    expect(loop.values()).to.deep.equal(valuesTo(10))
    expect(rule.fired).to.have.length(codes.length)
    expect(loop.failures).to.deep.equal([])
  })

  it('reports a batch whose bytes were changed on the way instead of processing it', async () => {
    proxy.rule({
      api: 'Fetch',
      direction: 'response',
      action: {
        type: 'rewrite',
        body: response => ({
          ...response,
          responses: response.responses.map(one => ({
            ...one,
            partitions: one.partitions.map(partition => ({ ...partition, records: lastBitFlipped(partition.records) })),
          })),
        }),
      },
    })
    await writer.write(topic, numbered(0, 10))
    loop = new FetchLoop(cluster, { onWake: () => undefined }).add(topic)
    await eventually('a block is there', () => loop.fetcher.hasData)

    expect(() => loop.take()).to.throw(/checksum|CRC/iu)
    expect(loop.records).to.deep.equal([])
  })

  it('is quiet while nothing happens', async () => {
    await writer.write(topic, numbered(0, 1))
    loop = new FetchLoop(cluster).add(topic)
    await loop.untilPosition(topic, 0, 1)
    await eventually('it polls', () => proxy.count('Fetch') > 6)
    const before = proxy.count('Fetch')
    const sinceMs = Date.now()
    await eventually('it polls again and again', () => proxy.count('Fetch') >= before + 4)

    // Of four polls that the broker holds for 500 ms each three lie in between as a whole.
    expect(Date.now() - sinceMs).to.be.greaterThan(1_400)
  })
})

describe('the fetcher on three brokers', function () {
  this.timeout(120_000)
  const kafka = useBroker('three')
  let admin: Admin
  let cluster: Cluster
  let loop: FetchLoop | undefined

  beforeEach(async () => {
    const connected = await connectCluster(kafka().bootstrapServers)
    cluster = connected.cluster
    admin = connected.admin
  })

  afterEach(async () => {
    await loop?.fetcher.close()
    loop = undefined
    for (const { id, running } of kafka().nodes) if (!running) await kafka().startNode(id)
    await eventually(
      'all brokers are back',
      async () => {
        await cluster.refresh([])
        return cluster.brokers.size === 3
      },
      60_000,
    )
    await cluster.close()
  })

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`goes on with the next leader when one ends by ${signal} (F16)`, async () => {
      const topic = uniqueName('moved')
      await createTopic(admin, topic, { partitions: 3, replicationFactor: 3 })
      const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'client.id': topic })
      loop = new FetchLoop(cluster, { partitionMaxBytes: 2_000 })
      for (const partition of [0, 1, 2]) loop.add(topic, partition)
      const write = (from: number): Promise<unknown> =>
        writer.write(
          topic,
          [0, 1, 2].flatMap(partition => numbered(from, 100, partition)),
        )
      await write(0)
      for (const partition of [0, 1, 2]) await loop.untilPosition(topic, partition, 100)
      const leader = cluster.leaderOf({ topic, partition: 0 })?.nodeId ?? -1
      kafka().kill(leader, signal)
      await eventually('it ended', () => kafka().nodes.find(({ id }) => id === leader)?.running === false, 30_000)
      await write(100)
      for (const partition of [0, 1, 2]) await loop.untilPosition(topic, partition, 200, 60_000)
      await writer.close()

      for (const partition of [0, 1, 2]) expect(loop.values(partition)).to.deep.equal(valuesTo(200))
      expect(loop.failures).to.deep.equal([])
      expect(cluster.leaderOf({ topic, partition: 0 })?.nodeId).not.to.equal(leader)
    })
  }

  it('lets a broker that does not answer delay only its own partitions (F21)', async () => {
    const topic = uniqueName('slow')
    await createTopic(admin, topic, { partitions: 3, replicationFactor: 3 })
    const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'client.id': topic })
    await writer.write(
      topic,
      [0, 1, 2].flatMap(partition => numbered(0, 10, partition)),
    )
    const proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    const { cluster: behind } = await connectCluster(proxy.bootstrapServers)
    await behind.topic(topic)
    const slowNode = behind.leaderOf({ topic, partition: 0 })?.nodeId ?? -1
    const others = [1, 2].filter(partition => behind.leaderOf({ topic, partition })?.nodeId !== slowNode)
    const rule = proxy.rule({ api: 'Fetch', direction: 'response', nodeId: slowNode, action: { type: 'hold' }, nth: 1 })
    loop = new FetchLoop(behind)
    for (const partition of [0, 1, 2]) loop.add(topic, partition)
    await rule.waitHeld()
    for (const partition of others) await loop.untilPosition(topic, partition, 10)
    expect(loop.values(0)).to.deep.equal([])
    rule.release()
    await loop.untilPosition(topic, 0, 10)
    await loop.fetcher.close()
    await behind.close()
    await proxy.stop()

    expect(others.length).to.be.greaterThan(0)
    for (const partition of [0, 1, 2]) expect(loop.values(partition)).to.deep.equal(valuesTo(10))
  })
})

function lastBitFlipped(records: Buffer | null): Buffer | null {
  if (records === null || records.length === 0) return records
  const changed = Buffer.from(records)
  changed.writeUInt8((changed.at(-1) ?? 0) ^ 1, changed.length - 1)
  return changed
}
