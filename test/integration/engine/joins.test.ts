import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MillraceStreams } from '../../../src/millrace-streams.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import { streams } from '../../../src/topology/streams.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { readTopic } from '../../support/kafka-reader.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'

const text = { key: string, value: string }

/** The value of an order: its customer and its number. */
function orderOf(at: number): string {
  return `c${String(at % 4)}:${String(at)}`
}

describe('joins on a real broker', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')

  async function createTopics(...topics: readonly string[]): Promise<void> {
    const { admin, cluster } = await adminOf(kafka())
    await admin.createTopics(
      topics.map(name => ({ name, partitions: 3, configs: {}, replicationFactor: 1 })),
      10_000,
    )
    await cluster.close()
  }

  async function valuesOf(topic: string): Promise<Record<string, string | null>> {
    const latest: Record<string, string | null> = {}
    for (const { key, value } of await readTopic(kafka().bootstrapServers, topic, 'read_committed'))
      latest[String(key)] = value === null ? null : String(value)
    return latest
  }

  it('joins a global table in full, rows by foreign keys across partitions, and streams within a time', async () => {
    const name = uniqueName('joins')
    const [orders, customers, rates, payments] = ['orders', 'customers', 'rates', 'payments'].map(
      topic => `${name}-${topic}`,
    )
    const outputs = { rated: `${name}-rated`, named: `${name}-named`, paid: `${name}-paid` }
    if (orders === undefined || customers === undefined || rates === undefined || payments === undefined)
      throw new Error()
    await createTopics(orders, customers, rates, payments, ...Object.values(outputs))
    const writer = await KafkaWriter.open(kafka().bootstrapServers)
    // More than one fetch of the global table, all of it there before the first order.
    const table = Array.from({ length: 500 }, (_, at) => ({
      key: `r${String(at)}`,
      value: `rate${String(at)}`,
      timestamp: 0,
    }))
    await writer.write(rates, table)
    const topology = streams(b => {
      const placed = b.stream(orders, { key: nullable(string), value: string })
      const global = b.globalTable(rates, { ...text, store: 'rates' })
      placed
        .join(
          global,
          v => `r${v.split(':')[1] ?? ''}`,
          (order, rate) => `${order}/${rate}`,
        )
        .to(outputs.rated, text)
      placed
        .toTable({ key: string, store: 'orders' })
        .foreignKeyJoin(
          b.table(customers, { ...text, store: 'customers' }),
          v => v.split(':')[0] ?? null,
          (order, customer) => `${order}/${customer}`,
          { value: string, name: 'named' },
        )
        .toStream()
        .to(outputs.named)
      placed
        .join(b.stream(payments, { key: nullable(string), value: string }), (order, payment) => `${order}/${payment}`, {
          within: '1m',
          grace: 0,
          key: string,
          store: 'pay',
          name: 'pay',
        })
        .to(outputs.paid, { value: string })
    })
    const stateDir = join(tmpdir(), name)
    const instance = new MillraceStreams({
      topology,
      config: {
        streams: { 'application.id': name, 'state.dir': stateDir },
        kafka: { 'bootstrap.servers': kafka().bootstrapServers },
        http: false,
        logging: { level: 'warn' },
      },
    })
    try {
      await instance.start()
      const many = Array.from({ length: 30 }, (_, at) => `o${String(at)}`)
      await writer.write(
        customers,
        ['c0', 'c1', 'c2'].map(key => ({ key, value: `name-${key}`, timestamp: 10 })),
      )
      await writer.write(
        orders,
        many.map((key, at) => ({ key, value: `c${String(at % 4)}:${String(at)}`, timestamp: 1_000 + at })),
      )
      await writer.write(
        payments,
        many.map((key, at) => ({ key, value: `p${String(at)}`, timestamp: 2_000 + at })),
      )
      const byKey = (valueOf: (key: string, at: number) => string | undefined): Record<string, string> =>
        Object.fromEntries(
          many.flatMap((key, at) => {
            const value = valueOf(key, at)
            return value === undefined ? [] : [[key, value]]
          }),
        )
      const expected = {
        rated: byKey((_key, at) => `${orderOf(at)}/rate${String(at)}`),
        named: byKey((_key, at) => (at % 4 === 3 ? undefined : `${orderOf(at)}/name-c${String(at % 4)}`)),
        paid: byKey((_key, at) => `${orderOf(at)}/p${String(at)}`),
      }
      for (const output of ['rated', 'named', 'paid'] as const) {
        const size = Object.keys(expected[output]).length
        await eventually(
          `${output} is complete`,
          async () => Object.keys(await valuesOf(outputs[output])).length >= size,
          60_000,
        )
        expect(await valuesOf(outputs[output]), output).to.deep.equal(expected[output])
      }
      await writer.write(customers, [{ key: 'c3', value: 'late', timestamp: 20 }])
      const late = byKey((_key, at) => (at % 4 === 3 ? `${orderOf(at)}/late` : undefined))
      let named: Record<string, string | null> = {}
      // Orders of several partitions: they are joined one after the other, in any order.
      await eventually('late customers are joined', async () => {
        named = await valuesOf(outputs.named)
        return Object.keys(late).every(key => key in named)
      })
      expect(named).to.include(late)
    } finally {
      await instance.close()
      rmSync(stateDir, { recursive: true, force: true })
    }
  })
})
