import { expect } from 'chai'
import { GlobalTables } from '../../../src/engine/global-tables.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import { string } from '../../../src/serdes/text.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import { streams } from '../../../src/topology/streams.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { changelogBlock, FakeFetcher, FakeLogs } from './engine-fakes.ts'

const P0: TopicPartition = { topic: 'rates', partition: 0 }
const P1: TopicPartition = { topic: 'rates', partition: 1 }

class GlobalsBench {
  readonly logs = new FakeLogs()
  readonly fetcher = new FakeFetcher()
  partitions = 2
  readonly globals: GlobalTables

  constructor() {
    const text = { key: string, value: string }
    const topology = streams(builder => {
      const rates = builder.globalTable('rates', { ...text, store: 'rates' })
      builder
        .stream('in', text)
        .join(
          rates,
          value => value,
          (left, right) => `${left}/${right}`,
        )
        .to('out', { value: string })
    })
    this.globals = new GlobalTables({
      tables: planApplication(topology, { 'application.id': 'app' }).globalTables,
      cluster: { topics: names => Promise.resolve(this.#topics(names)) },
      admin: this.logs,
      fetcher: this.fetcher,
      logger: SILENT_LOGGER,
      policies: {},
      dropped: () => undefined,
    })
  }

  #topics(names: readonly string[]): Awaited<ReturnType<Cluster['topics']>> {
    const partition = { partition: 0, leader: 1, leaderEpoch: 0, replicas: [1], isr: [1] }
    const partitions = Array.from({ length: this.partitions }, () => partition)
    const info = { topicId: Buffer.alloc(16), internal: false, partitions }
    return new Map(this.partitions === 0 ? [] : names.map(name => [name, { name, ...info }]))
  }

  read(partition: TopicPartition, offsets: readonly number[]): void {
    const records = offsets.map(offset => ({ offset, key: `k${String(offset)}`, value: Buffer.from('v') }))
    this.fetcher.fetched(partition, changelogBlock(partition, records))
    this.globals.advance()
  }
}

describe('global tables', () => {
  it('are complete once every partition was read up to what it held at the start', async () => {
    const bench = new GlobalsBench()
    bench.logs.latest.set(P0, 2)
    bench.logs.latest.set(P1, 3)
    expect(bench.globals.isComplete, 'nothing is known yet').to.equal(false)
    await bench.globals.begin()
    expect(bench.globals.isComplete).to.equal(false)
    bench.read(P0, [0, 1])
    expect(bench.globals.isComplete, 'the other partition is missing').to.equal(false)
    bench.read(P1, [0, 1])
    expect(bench.globals.isComplete, 'a record is missing').to.equal(false)
    bench.read(P1, [2])
    expect(bench.globals.isComplete).to.equal(true)
    expect(bench.globals.stores.get('rates')?.entries).to.equal(3)
  })

  it('are read from the beginning of what is left of their topics, what is not committed yet counts to the end', async () => {
    const bench = new GlobalsBench()
    bench.logs.earliest.set(P0, 40)
    bench.logs.latest.set(P0, 42)
    await bench.globals.begin()
    expect([bench.fetcher.positions.get(P0), bench.fetcher.positions.get(P1)]).to.deep.equal([40, 0])
    expect(bench.logs.asked).to.deep.equal(['earliest read_uncommitted', 'latest read_uncommitted'])
    bench.read(P0, [40, 41])
    expect(bench.globals.isComplete, 'an empty partition has nothing to wait for').to.equal(true)
  })

  it('are not taken for empty where their topic is not there', async () => {
    const bench = new GlobalsBench()
    bench.partitions = 0
    const error = await rejectionOf(bench.globals.begin())
    expect([error.code, error.details.topic]).to.deep.equal(['TOPIC_MISSING', 'rates'])
    expect(bench.globals.isComplete).to.equal(false)
  })

  it('are read anew where records were deleted before they were read: deletions of their keys may be among those', async () => {
    const bench = new GlobalsBench()
    bench.logs.latest.set(P0, 1)
    bench.logs.latest.set(P1, 2)
    await bench.globals.begin()
    bench.read(P0, [0])
    bench.read(P1, [1])
    expect(bench.globals.isComplete).to.equal(true)

    bench.logs.earliest.set(P0, 3)
    bench.logs.latest.set(P0, 5)
    await bench.globals.restart(P0)
    expect([bench.fetcher.positions.get(P0), bench.fetcher.positions.get(P1)]).to.deep.equal([3, 0])
    expect([bench.globals.isComplete, bench.globals.stores.get('rates')?.entries]).to.deep.equal([false, 0])
    bench.read(P0, [3, 4])
    expect(bench.globals.isComplete, 'the other partition was cleared with it').to.equal(false)
    bench.read(P1, [1])
    expect(bench.globals.isComplete).to.equal(true)
    expect(bench.globals.stores.get('rates')?.entries).to.equal(3)
  })

  it('are complete again only with all that their topic held when they were read anew', async () => {
    const bench = new GlobalsBench()
    bench.partitions = 1
    bench.logs.latest.set(P0, 1)
    await bench.globals.begin()
    bench.read(P0, [0])
    bench.logs.earliest.set(P0, 3)
    bench.logs.latest.set(P0, 5)
    await bench.globals.restart(P0)
    expect(bench.globals.isComplete, 'the log has grown').to.equal(false)
    bench.read(P0, [3])
    expect(bench.globals.isComplete, 'a record is missing').to.equal(false)
    bench.read(P0, [4])
    expect(bench.globals.isComplete).to.equal(true)
  })
})
