import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import type { TopicPartition } from '../../../src/model/topic-partition.ts'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import { ChangelogRestorer, type RestoreProgress } from '../../../src/engine/changelog-restorer.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { deferred } from '../../../src/engine/deferred.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { changelogBlock, FakeFetcher, FakeLogs, TaskRoom } from './engine-fakes.ts'

const IN: TopicPartition = { topic: 'in', partition: 0 }
const ONE: TopicPartition = { topic: 'app-one-changelog', partition: 0 }
const TWO: TopicPartition = { topic: 'app-two-changelog', partition: 0 }

function countingTwice(builder: StreamsBuilder): void {
  const grouped = builder.stream('in', { key: string, value: string }).groupByKey()
  grouped.count({ store: 'one' })
  grouped.count({ store: 'two' })
}

function aTable(builder: StreamsBuilder): void {
  builder.table('in', { key: string, value: string, store: 'kept' }).toStream().to('out')
}

function count(value: number): Buffer {
  return Buffer.from(long.serialize(value, { topic: 't', side: 'value', headers: NO_HEADERS }))
}

class RestoreBench {
  readonly logs = new FakeLogs()
  readonly fetcher = new FakeFetcher()
  readonly progress: RestoreProgress[] = []
  readonly warnings: string[] = []
  readonly task: ActiveTask
  readonly restorer: ChangelogRestorer

  constructor(define = countingTwice, properties: Partial<StreamsProperties> = {}, isAtomic = true) {
    const [task] = new TaskRoom(define, properties).registry.create([IN])
    if (task === undefined) throw new Error('there is no task')
    this.task = task
    for (const input of task.inputs) input.committed = 50
    task.on('positioned')
    this.restorer = new ChangelogRestorer({
      admin: this.logs,
      fetcher: this.fetcher,
      clock: new ManualClock(),
      logger: { ...SILENT_LOGGER, warn: (_fields, text) => this.warnings.push(text) },
      isAtomic,
      onProgress: progress => this.progress.push(progress),
    })
  }

  entries(): readonly number[] {
    return this.task.task.stores.map(store => store.entries)
  }
}

/** Two stores, two of four records taken over into each. */
async function halfRestored(): Promise<RestoreBench> {
  const bench = new RestoreBench()
  for (const changelog of [ONE, TWO]) bench.logs.latest.set(changelog, 4)
  await bench.restorer.begin(bench.task)
  for (const changelog of [ONE, TWO]) {
    const records = [
      { offset: 0, key: 'a', value: count(1) },
      { offset: 1, key: 'b', value: count(1) },
    ]
    bench.fetcher.fetched(changelog, changelogBlock(changelog, records))
  }
  bench.restorer.advance()
  expect(bench.entries()).to.deep.equal([2, 2])
  return bench
}

describe('changelog restorer', () => {
  it('has nothing to do where the changelogs are empty', async () => {
    const bench = new RestoreBench()
    await bench.restorer.begin(bench.task)

    expect(bench.restorer.isRestored(bench.task)).to.equal(true)
    expect(bench.fetcher.positions.size).to.equal(0)
  })

  it('takes the end of the log and not the last stable offset as its goal (I12)', async () => {
    const bench = new RestoreBench()
    await bench.restorer.begin(bench.task)

    expect(bench.logs.asked).to.have.members(['earliest read_uncommitted', 'latest read_uncommitted'])
  })

  it('reads from the beginning of the log and is done once the position passes the end, markers included', async () => {
    const bench = new RestoreBench()
    bench.logs.earliest.set(ONE, 5)
    bench.logs.latest.set(ONE, 10)
    await bench.restorer.begin(bench.task)
    expect(bench.fetcher.positions.get(ONE)).to.equal(5)
    expect(bench.restorer.remainingOf(bench.task)).to.equal(5)

    const records = [
      { offset: 5, key: 'a', value: count(1) },
      { offset: 6, key: 'b', value: count(1) },
      { offset: 7, key: 'a', value: null },
    ]
    bench.fetcher.fetched(ONE, changelogBlock(ONE, records, { position: 5 }))
    bench.fetcher.fetched(ONE, changelogBlock(ONE, [], { position: 8, markers: 2 }))
    expect(bench.restorer.advance()).to.equal(true)
    expect(bench.restorer.isRestored(bench.task)).to.equal(false)
    expect(bench.restorer.advance()).to.equal(true)

    expect(bench.restorer.isRestored(bench.task)).to.equal(true)
    expect(bench.restorer.advance()).to.equal(false)
    expect(bench.entries()).to.deep.equal([1, 0])
    expect(bench.fetcher.positions.has(ONE)).to.equal(false)
    expect(bench.progress.map(({ restored, total }) => [restored, total])).to.deep.equal([
      [3, 5],
      [5, 5],
    ])
  })

  it('waits for the very last offset: it may be a record', async () => {
    const bench = new RestoreBench()
    bench.logs.latest.set(ONE, 2)
    await bench.restorer.begin(bench.task)
    bench.fetcher.fetched(ONE, changelogBlock(ONE, [{ offset: 0, key: 'a', value: count(1) }]))
    bench.restorer.advance()
    expect(bench.restorer.isRestored(bench.task)).to.equal(false)

    bench.fetcher.fetched(ONE, changelogBlock(ONE, [{ offset: 1, key: 'b', value: count(1) }], { position: 1 }))
    bench.restorer.advance()
    expect(bench.restorer.isRestored(bench.task)).to.equal(true)
    expect(bench.entries()).to.deep.equal([2, 0])
  })

  it('takes nothing over from behind the end that was taken at the start', async () => {
    const bench = new RestoreBench()
    bench.logs.latest.set(ONE, 1)
    await bench.restorer.begin(bench.task)
    const records = [
      { offset: 0, key: 'a', value: count(1) },
      { offset: 1, key: 'b', value: count(1) },
    ]
    bench.fetcher.fetched(ONE, changelogBlock(ONE, records))
    bench.restorer.advance()

    expect(bench.restorer.isRestored(bench.task)).to.equal(true)
    expect(bench.entries()).to.deep.equal([1, 0])
  })

  it('stops where state is committed and no offset is: reading it as zero would count everything twice', async () => {
    const bench = new RestoreBench()
    for (const input of bench.task.inputs) input.committed = undefined
    bench.logs.latest.set(ONE, 1)
    await bench.restorer.begin(bench.task)
    bench.fetcher.fetched(ONE, changelogBlock(ONE, [{ offset: 0, key: 'a', value: count(1) }]))

    expect(() => bench.restorer.advance())
      .to.throw(MillraceError)
      .with.property('code', 'COMMITTED_OFFSET_MISSING')
  })

  it('goes on, and says so once, where state is written before offsets are committed: a life may end in between', async () => {
    const bench = new RestoreBench(countingTwice, {}, false)
    for (const input of bench.task.inputs) input.committed = undefined
    bench.logs.latest.set(ONE, 2)
    await bench.restorer.begin(bench.task)
    for (const offset of [0, 1]) {
      bench.fetcher.fetched(
        ONE,
        changelogBlock(ONE, [{ offset, key: 'a', value: count(offset) }], { position: offset }),
      )
      bench.restorer.advance()
    }

    expect(bench.restorer.isRestored(bench.task)).to.equal(true)
    expect(bench.warnings).to.have.lengthOf(1)
    expect(bench.warnings[0]).to.match(/no committed offset/)
  })

  it('lets pass a changelog of aborted transactions where no offset is committed', async () => {
    const bench = new RestoreBench()
    for (const input of bench.task.inputs) input.committed = undefined
    bench.logs.latest.set(ONE, 2)
    await bench.restorer.begin(bench.task)
    bench.fetcher.fetched(ONE, changelogBlock(ONE, [], { markers: 2 }))
    bench.restorer.advance()

    expect(bench.restorer.isRestored(bench.task)).to.equal(true)
  })

  it('refuses a record without a key', async () => {
    const bench = new RestoreBench()
    bench.logs.latest.set(ONE, 1)
    await bench.restorer.begin(bench.task)
    bench.fetcher.fetched(ONE, changelogBlock(ONE, [{ offset: 0, key: null, value: count(1) }]))

    expect(() => bench.restorer.advance())
      .to.throw(MillraceError)
      .with.property('code', 'STORE_CORRUPT')
  })

  it('starts nothing of a task that was closed while the ends were asked for', async () => {
    const bench = new RestoreBench()
    bench.logs.latest.set(ONE, 1)
    const gate = deferred<void>()
    bench.logs.gate = gate.promise
    const begun = bench.restorer.begin(bench.task)
    bench.task.on('closed')
    gate.resolve()
    await begun

    expect(bench.fetcher.positions.size).to.equal(0)
  })

  describe('when the log no longer reaches back to the position', () => {
    it('starts that store alone again at the beginning of the log', async () => {
      const bench = await halfRestored()
      bench.logs.earliest.set(ONE, 3)
      bench.logs.latest.set(ONE, 4)
      await bench.restorer.restart(ONE)

      expect(bench.entries()).to.deep.equal([0, 2])
      expect([bench.fetcher.positions.get(ONE), bench.fetcher.positions.get(TWO)]).to.deep.equal([3, 0])
      bench.fetcher.fetched(ONE, changelogBlock(ONE, [{ offset: 3, key: 'c', value: count(1) }], { position: 3 }))
      bench.fetcher.fetched(TWO, changelogBlock(TWO, [{ offset: 3, key: 'c', value: count(1) }], { position: 2 }))
      bench.restorer.advance()

      expect(bench.restorer.isRestored(bench.task)).to.equal(true)
      expect(bench.entries()).to.deep.equal([1, 3])
    })

    it('leaves the store incomplete, and comes back, when the bounds of the log cannot be read', async () => {
      const bench = await halfRestored()
      bench.logs.failures.push(new MillraceError('REQUEST_TIMED_OUT'))
      const failure = await rejectionOf(bench.restorer.restart(ONE))

      expect(failure.code).to.equal('REQUEST_TIMED_OUT')
      expect(bench.restorer.isRestored(bench.task)).to.equal(false)
      expect(bench.restorer.reads(ONE)).to.equal(true)
      expect(bench.fetcher.positions.get(ONE), 'fetched again, to fail again').to.equal(2)
    })

    it('does nothing for a store that is complete meanwhile', async () => {
      const bench = await halfRestored()
      bench.restorer.drop(bench.task)
      await bench.restorer.restart(ONE)

      expect(bench.restorer.reads(ONE)).to.equal(false)
    })
  })

  describe('from the source topic of a table', () => {
    const optimized = { 'topology.optimization': 'all' } as const

    it('ends at the committed offset: what follows is input that is still to be processed', async () => {
      const bench = new RestoreBench(aTable, optimized)
      for (const input of bench.task.inputs) input.committed = 2
      bench.logs.latest.set(IN, 10)
      await bench.restorer.begin(bench.task)
      const records = [0, 1, 2, 3].map(offset => ({ offset, key: `k${String(offset)}`, value: Buffer.from('v') }))
      bench.fetcher.fetched(IN, changelogBlock(IN, records))
      bench.restorer.advance()

      expect(bench.restorer.isRestored(bench.task)).to.equal(true)
      expect(bench.entries()).to.deep.equal([2])
    })

    it('takes nothing over where nothing is committed', async () => {
      const bench = new RestoreBench(aTable, optimized)
      for (const input of bench.task.inputs) input.committed = undefined
      bench.logs.latest.set(IN, 10)
      await bench.restorer.begin(bench.task)

      expect(bench.restorer.isRestored(bench.task)).to.equal(true)
      expect(bench.fetcher.positions.size).to.equal(0)
    })
  })
})
