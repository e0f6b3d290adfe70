import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MillraceStreams } from '../../../src/millrace-streams.ts'
import { string } from '../../../src/serdes/text.ts'
import { streams } from '../../../src/topology/streams.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { readTopicInProcess } from '../../support/kafka-reader.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'

const text = { key: string, value: string }

describe('a join whose table topic lags (case 66)', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')

  async function valuesOf(topic: string): Promise<(string | undefined)[]> {
    const records = await readTopicInProcess(kafka().bootstrapServers, topic, 'read_committed')
    return records.map(({ value }) => value?.toString())
  }

  /** An application with that much patience that joins `orders` with `rows`, and copies `marks` beside it. */
  async function start(idleMs: number): Promise<{
    readonly topics: Readonly<Record<'orders' | 'rows' | 'marks' | 'joined' | 'marked', string>>
    readonly close: () => Promise<void>
  }> {
    const name = uniqueName('idle')
    const topics = {
      orders: `${name}-orders`,
      rows: `${name}-rows`,
      marks: `${name}-marks`,
      joined: `${name}-joined`,
      marked: `${name}-marked`,
    }
    const { admin, cluster } = await adminOf(kafka())
    await admin.createTopics(
      Object.values(topics).map(topic => ({ name: topic, partitions: 1, configs: {}, replicationFactor: 1 })),
      10_000,
    )
    await cluster.close()
    const topology = streams(b => {
      b.stream(topics.orders, text)
        .leftJoin(b.table(topics.rows, { ...text, store: 'rows' }), (order, row) => `${order}/${String(row)}`)
        .to(topics.joined, text)
      b.stream(topics.marks, text).to(topics.marked)
    })
    const stateDir = join(tmpdir(), name)
    const instance = new MillraceStreams({
      topology,
      config: {
        streams: { 'application.id': name, 'state.dir': stateDir, 'max.task.idle.ms': idleMs },
        kafka: { 'bootstrap.servers': kafka().bootstrapServers },
        http: false,
        logging: { level: 'warn' },
      },
    })
    await instance.start()
    const close = async (): Promise<void> => {
      await instance.close()
      rmSync(stateDir, { recursive: true, force: true })
    }
    return { topics, close }
  }

  it('joins an order with the older row that is fetched after it, again and again', async () => {
    const { topics, close } = await start(100_000)
    try {
      const writer = await KafkaWriter.open(kafka().bootstrapServers)
      const expected: string[] = []
      for (let round = 1; round <= 2; round++) {
        const at = round * 1_000
        await writer.write(topics.orders, [{ key: 'k', value: `o${String(round)}`, timestamp: at + 200 }])
        await writer.write(topics.marks, [{ key: 'm', value: 'm', timestamp: at }])
        // The thread that has processed the mark has fetched the order, which was written before it.
        await eventually('the mark is through', async () => (await valuesOf(topics.marked)).length === round)
        expect(await valuesOf(topics.joined)).to.deep.equal(expected)

        await writer.write(topics.rows, [
          { key: 'k', value: `r${String(round)}`, timestamp: at + 100 },
          { key: 'other', value: 'later', timestamp: at + 300 },
        ])
        expected.push(`o${String(round)}/r${String(round)}`)
        await eventually('the order is joined', async () => (await valuesOf(topics.joined)).length === round)
        expect(await valuesOf(topics.joined)).to.deep.equal(expected)
      }
    } finally {
      await close()
    }
  })

  it('goes on without a row that does not come within max.task.idle.ms', async () => {
    const { topics, close } = await start(300)
    try {
      const writer = await KafkaWriter.open(kafka().bootstrapServers)
      await writer.write(topics.orders, [{ key: 'k', value: 'o', timestamp: 200 }])
      await eventually('the order has gone on', async () => (await valuesOf(topics.joined)).length === 1)
      expect(await valuesOf(topics.joined)).to.deep.equal(['o/null'])
    } finally {
      await close()
    }
  })
})
