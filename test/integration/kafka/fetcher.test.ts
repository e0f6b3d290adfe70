import { expect } from 'chai'
import type { Admin } from '../../../src/kafka/admin/admin.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import { prepareCompression } from '../../../src/kafka/records/compression.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { type Isolation, readTopic, readTopicInProcess } from '../../support/kafka-reader.ts'
import { KafkaWriter, type RecordToWrite } from '../../support/kafka-writer.ts'
import { connectCluster, createTopic } from '../../support/test-cluster.ts'
import { FetchLoop } from './fetch-loop.ts'

function numbered(from: number, count: number, partition = 0): RecordToWrite[] {
  return Array.from({ length: count }, (_, index) => ({ partition, value: `v${String(from + index)}` }))
}

// Fetching does not depend on transaction.version; the older broker offers other versions.
for (const kind of ['tv2', '3.9.1'] as const) {
  describe(`the fetcher on a real broker (${kind})`, function () {
    this.timeout(60_000)
    const kafka = useBroker(kind)
    let cluster: Cluster
    let admin: Admin
    const loops: FetchLoop[] = []

    before(prepareCompression)

    beforeEach(async () => {
      const connected = await connectCluster(kafka().bootstrapServers)
      cluster = connected.cluster
      admin = connected.admin
    })

    afterEach(async () => {
      for (const loop of loops.splice(0)) await loop.fetcher.close()
      await cluster.close()
    })

    function read(options: ConstructorParameters<typeof FetchLoop>[1] = {}): FetchLoop {
      const loop = new FetchLoop(cluster, options)
      loops.push(loop)
      return loop
    }

    it('sees of interleaved transactions exactly what the Java client sees, from wherever it starts (I7)', async () => {
      const topic = uniqueName('interleaved')
      await createTopic(admin, topic)
      await writeInterleaved(kafka().bootstrapServers, topic)
      const [end = 0] = [...(await admin.listOffsets([{ topic, partition: 0 }], 'latest', 'read_uncommitted'))].map(
        ([, offset]) => offset,
      )

      for (const isolation of ['read_committed', 'read_uncommitted'] satisfies Isolation[]) {
        const java = await readTopic(kafka().bootstrapServers, topic, isolation)
        // So small that every block begins inside what was left over of a transaction.
        const loop = read({ isolation, partitionMaxBytes: 200 }).add(topic)
        // The filter has no say in what read_uncommitted sees: one pass is enough.
        const starts = isolation === 'read_committed' ? end : 1
        for (let start = 0; start < starts; start += 1) {
          loop.rewind({ topic, partition: 0 }, start)
          await loop.untilPosition(topic, 0, end)
          const expected = java.filter(({ offset }) => offset >= start)
          expect(
            loop.records.map(({ offset, value }) => [offset, value]),
            `${isolation} from ${String(start)}`,
          ).to.deep.equal(expected.map(({ offset, value }) => [offset, value?.toString()]))
        }
        // Two fetchers on one cluster would wait behind each other's parked polls.
        await loop.fetcher.close()
      }
      expect(end).to.be.greaterThan(50)
    })

    it('passes the markers at the end of a transactional topic, so that lag reaches 0', async () => {
      const topic = uniqueName('markers')
      await createTopic(admin, topic)
      const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'transactional.id': uniqueName('t') })
      await writer.transaction(topic, numbered(0, 3), 'commit')
      await writer.transaction(topic, numbered(3, 2), 'abort')
      await writer.close()

      const loop = read().add(topic)
      await loop.untilPosition(topic, 0, 7)

      expect(loop.values()).to.deep.equal(['v0', 'v1', 'v2'])
      expect(loop.fetcher.watermarks({ topic, partition: 0 })).to.deep.equal({
        highWatermark: 7,
        lastStableOffset: 7,
        logStart: 0,
      })
    })

    it('shows nothing of an open transaction, and all of it once it is committed', async () => {
      const topic = uniqueName('open')
      await createTopic(admin, topic)
      const writer = await KafkaWriter.open(kafka().bootstrapServers, { 'transactional.id': uniqueName('t') })
      const loop = read().add(topic)
      await writer.begin()
      await writer.write(topic, numbered(0, 3))
      await eventually('the watermark moved', () => {
        const marks = loop.fetcher.watermarks({ topic, partition: 0 })
        return marks !== undefined && marks.highWatermark === 3 && marks.lastStableOffset === 0
      })
      expect(loop.records).to.deep.equal([])
      await writer.commit()
      await loop.untilPosition(topic, 0, 4)
      await writer.close()

      expect(loop.values()).to.deep.equal(['v0', 'v1', 'v2'])
    })

    it('reads batches of every compression, and those larger than it asked for, of several partitions', async () => {
      const topic = uniqueName('codecs')
      await createTopic(admin, topic, { partitions: 3 })
      const text = 'lorem ipsum '.repeat(20)
      const written: string[] = []
      for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
        const writer = await KafkaWriter.open(kafka().bootstrapServers, {
          'compression.type': codec,
          'linger.ms': '20',
        })
        for (const partition of [0, 1, 2]) {
          const records = Array.from({ length: 100 }, (_, index) => ({
            partition,
            value: `${codec} ${String(index)} ${text}`,
          }))
          await writer.write(topic, records)
          if (partition === 0) written.push(...records.map(({ value }) => value))
        }
        await writer.close()
      }
      const loop = read({ partitionMaxBytes: 100, maxBytes: 150 })
      for (const partition of [0, 1, 2]) loop.add(topic, partition)
      for (const partition of [0, 1, 2]) await loop.untilPosition(topic, partition, 500)

      for (const partition of [0, 1, 2]) expect(loop.values(partition)).to.deep.equal(written)
    })

    it('reports an offset below the log start, and goes on from there', async () => {
      const topic = uniqueName('deleted')
      await createTopic(admin, topic)
      const writer = await KafkaWriter.open(kafka().bootstrapServers)
      await writer.write(topic, numbered(0, 10))
      await admin.deleteRecords(new TopicPartitionMap([[{ topic, partition: 0 }, 6]]))

      const loop = read().add(topic, 0, 2)
      const error = await loop.untilFailure()
      expect(error.code).to.equal('OFFSET_OUT_OF_RANGE')
      expect(error.details).to.include({ topic, partition: 0, offset: 2 })
      loop.fetcher.seek({ topic, partition: 0 }, 6)
      await loop.untilPosition(topic, 0, 10)

      expect(loop.values()).to.deep.equal(['v6', 'v7', 'v8', 'v9'])
    })

    it('reports a topic that was deleted and recreated, and reads nothing of the new one', async () => {
      const topic = uniqueName('recreated')
      await createTopic(admin, topic)
      const writer = await KafkaWriter.open(kafka().bootstrapServers)
      await writer.write(topic, numbered(0, 5))
      const loop = read({ troubleMaxMs: 3_000 }).add(topic)
      await loop.untilPosition(topic, 0, 5)
      await admin.deleteTopics([topic])
      await createTopic(admin, topic)
      await (await KafkaWriter.open(kafka().bootstrapServers, { 'client.id': 'anew' })).write(topic, numbered(100, 20))

      expect((await loop.untilFailure()).code).to.equal('TOPIC_RECREATED')
      expect(loop.values()).to.deep.equal(['v0', 'v1', 'v2', 'v3', 'v4'])
    })

    it('reports a topic that does not exist', async () => {
      const loop = read({ troubleMaxMs: 500 }).add(uniqueName('absent'))

      expect((await loop.untilFailure()).code).to.equal('TOPIC_MISSING')
    })

    it('stops a paused partition, keeps its place, and rewinds where it is sent', async () => {
      const topic = uniqueName('paused')
      await createTopic(admin, topic, { partitions: 2 })
      const writer = await KafkaWriter.open(kafka().bootstrapServers)
      const loop = read().add(topic, 0).add(topic, 1)
      await writer.write(topic, [...numbered(0, 2, 0), ...numbered(0, 2, 1)])
      await loop.untilPosition(topic, 0, 2)
      await loop.untilPosition(topic, 1, 2)
      loop.fetcher.pause({ topic, partition: 0 })
      await writer.write(topic, [...numbered(2, 2, 0), ...numbered(2, 2, 1)])
      await loop.untilPosition(topic, 1, 4)
      expect(loop.values(0)).to.deep.equal(['v0', 'v1'])
      loop.fetcher.resume({ topic, partition: 0 })
      loop.take()
      await loop.untilPosition(topic, 0, 4)
      loop.fetcher.seek({ topic, partition: 0 }, 1)
      await eventually('it read them again', () => loop.values(0).length === 7)

      expect(loop.values(0)).to.deep.equal(['v0', 'v1', 'v2', 'v3', 'v1', 'v2', 'v3'])
    })

    it('reads fast what the Java client reads', async () => {
      const topic = uniqueName('fast')
      await createTopic(admin, topic, { partitions: 3 })
      const writer = await KafkaWriter.open(kafka().bootstrapServers)
      const headers = [
        ['h', 'x'],
        ['n', null],
      ] as const
      await writer.write(topic, [
        ...Array.from({ length: 200 }, (_, index) => ({
          key: `k${String(index)}`,
          value: String(index),
          timestamp: 1_000 + index,
        })),
        { key: null, value: null, partition: 2, timestamp: 5, headers },
      ])

      const fast = await readTopicInProcess(kafka().bootstrapServers, topic)
      const java = await readTopic(kafka().bootstrapServers, topic)
      expect(fast.toSorted(byPlace)).to.deep.equal(java.toSorted(byPlace))
      expect(fast).to.have.length(201)
    })
  })
}

function byPlace(a: { partition: number; offset: number }, b: { partition: number; offset: number }): number {
  return a.partition - b.partition || a.offset - b.offset
}

/** Three transactional producers and a plain one take turns in one partition, seeded; ids repeat, some transactions abort. */
async function writeInterleaved(bootstrapServers: string, topic: string): Promise<void> {
  const plain = await KafkaWriter.open(bootstrapServers, { 'client.id': topic })
  const writers = await Promise.all(
    [0, 1, 2].map(index => KafkaWriter.open(bootstrapServers, { 'transactional.id': `${topic}-${String(index)}` })),
  )
  const open = new Set<KafkaWriter>()
  let seed = 20
  const draw = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  let value = 0
  for (let step = 0; step < 40; step += 1) {
    const writer = writers[draw(3)] ?? plain
    const records = numbered(value, 1 + draw(3))
    value += records.length
    if (draw(8) === 0) {
      await plain.write(topic, records)
    } else if (!open.has(writer)) {
      await writer.begin()
      await writer.write(topic, records)
      open.add(writer)
    } else if (draw(3) === 0) {
      await writer.write(topic, records)
    } else {
      await (draw(2) === 0 ? writer.abort() : writer.commit())
      open.delete(writer)
    }
  }
  for (const writer of open) await writer.abort()
  for (const writer of [plain, ...writers]) await writer.close()
}
