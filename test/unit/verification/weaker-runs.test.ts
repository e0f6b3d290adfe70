import { expect } from 'chai'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { strictly } from '../../../src/verification/check-run.ts'
import type { HistoryEvent } from '../../../src/verification/history.ts'
import type { ObservedPartition, ObservedRecord } from '../../../src/verification/observed-log.ts'
import type { CheckName } from '../../../src/verification/verdict.ts'
import { plainRecord } from './bench-log.ts'
import { foundIn, reportOf, RunBench } from './run-bench.ts'
import { copy, counts, feed, numbers } from './topologies.ts'

function ran(define: ConstructorParameters<typeof RunBench>[0] = counts): RunBench {
  const bench = new RunBench(define)
  feed(bench, 40)
  bench.run()
  expect(bench.judge().isComplete, JSON.stringify(bench.judge().checks)).to.equal(true)
  return bench
}

/** The run is called consistent, and says of the check that a part of it was left out; who is strict has no verdict. */
function expectWeaker(bench: RunBench, reasons: Partial<Record<CheckName, RegExp>>): void {
  const judged = bench.judge()
  expect(foundIn(judged)).to.deep.equal([])
  expect(judged.verdict, JSON.stringify(judged.checks)).to.equal('consistent')
  expect(judged.isComplete).to.equal(false)
  expect(strictly(judged).verdict).to.equal('unjudged')
  for (const [check, reason] of Object.entries(reasons))
    expect(reportOf(judged, check as CheckName).leftOut.join('\n'), check).to.match(reason)
}

/** A log without some of its records, as the cleaner leaves it. */
function cleaned(log: ObservedPartition, isKept: (record: ObservedRecord) => boolean): ObservedPartition {
  const records = log.records.filter(isKept)
  const shownCommitted = records.filter(({ fate }) => fate === 'committed').map(({ offset }) => offset)
  return { ...log, isCompacted: true, records, shownCommitted }
}

/** Whether a record is the newest of its key. */
function newestOf({ records }: ObservedPartition): (record: ObservedRecord) => boolean {
  const newest = new Map<string, ObservedRecord>()
  for (const record of records) if (record.fate === 'committed') newest.set(String(record.key), record)
  return record => newest.get(String(record.key)) === record
}

describe('a yes that could not look at everything says so:', () => {
  it('a changelog that the cleaner went through', () => {
    const bench = ran()
    const log = bench.log('app-counts-changelog').observed()
    bench.more = { logs: bench.observe().logs.with([cleaned(log, newestOf(log))]) }
    const gone = /offsets that were cleaned or deleted: \d+ of app-counts-changelog-0/u
    expectWeaker(bench, {
      prefixFunction: /\d+ records of app-counts-changelog-0, which the cleaner may have taken/u,
      atomicity: gone,
      fencing: gone,
      keyOrder: gone,
      anomalies: gone,
    })
  })

  it('a log of commits that was cleaned, or may not be read', () => {
    for (const isReadable of [true, false]) {
      const bench = ran()
      const { offsetHistory } = bench.observe()
      if (offsetHistory === undefined) throw new Error('the bench has a log of commits')
      const history = isReadable ? { ...offsetHistory, isComplete: false } : undefined
      bench.more = { offsetHistory: history }
      const reason = /__consumer_offsets/u
      expectWeaker(bench, { tiling: reason, atomicity: reason, monotony: reason })
    }
  })

  it('offsets that a tool moved over records without results', () => {
    const bench = new RunBench(copy, { partitions: 1, aborts: false })
    feedOne(bench, 6)
    bench.run()
    const [first] = bench.commits
    if (first === undefined) throw new Error('nothing was committed')
    bench.commits.splice(0, 1, { ...first, offset: 2, transaction: undefined, producerId: -1 }, first)
    expect(bench.judge().isComplete).to.equal(false)
    expect(reportOf(bench.judge(), 'tiling').leftOut.join()).to.match(/who took 2 records of in-0 from 0 on: a tool/u)
  })

  it('records of a second reader that the cleaner has taken since', () => {
    const bench = ran(copy)
    const history = bench.readHistory('out')
    const log = bench.log('out').observed()
    const isNewest = newestOf(log)
    const first = log.records.find(record => record.fate === 'committed' && !isNewest(record))
    bench.more = { history, logs: bench.observe().logs.with([cleaned(log, record => record !== first)]) }
    expectWeaker(bench, { history: /1 record of out-0, which the cleaner or retention has taken since/u })
    expect(reportOf(bench.judge(), 'history').compared).to.equal(history.length - 1)
  })

  it('a partition of which a second reader was shown nothing', () => {
    const bench = ran(copy)
    bench.more = { history: bench.readHistory('out').filter(event => event.kind === 'read' && event.partition === 0) }
    expectWeaker(bench, { history: /^out-1, of which the reader was shown nothing$/u })
  })

  it('dead letters that retention has deleted: they are not called lost', () => {
    const bench = new RunBench(numbers, { policies: { deserialization: 'deadLetter', deadLetterTopic: 'dead' } })
    for (const value of ['1', 'no number', '2', '{', '3']) bench.log('in').entries.push(plainRecord('k', value))
    bench.run()
    const log = [bench.log('dead'), bench.log('dead', 1)].find(({ entries }) => entries.length > 0)
    if (log === undefined) throw new Error('there are no dead letters')
    log.logStart = 1
    const judged = bench.judge()
    expect(judged.verdict).to.equal('unjudged')
    expect(reportOf(judged, 'deadLetters').leftOut.join()).to.match(/letters in offsets that were .*: 1 of dead/u)
  })
})

function feedOne(bench: RunBench, records: number): void {
  for (let at = 0; at < records; at++) bench.log('in').entries.push(plainRecord(`k${String(at)}`, `v${String(at)}`, at))
}

describe('what is gone is told from what never was:', () => {
  it('an input offset that is a marker is no cleaned record, though the topic is compacted', () => {
    const bench = new RunBench(copy, { partitions: 1, aborts: false })
    const producer = { producerId: 70, producerEpoch: 0 }
    bench
      .log('in')
      .entries.push(
        { ...plainRecord('a', '1', 1), ...producer },
        { kind: 'marker', marker: 'commit', ...producer },
        { ...plainRecord('b', '2', 2), ...producer },
        { kind: 'marker', marker: 'commit', ...producer },
      )
    bench.log('in').isCompacted = true
    bench.run()
    expect(bench.judge().verdict).to.equal('consistent')
    bench.log('in').entries.splice(2, 1, { kind: 'marker', marker: 'commit', producerId: 71, producerEpoch: 0 })
    expect(foundIn(bench.judge())).to.include('dirtyInput: dirty read')
  })

  it('a record that a reader was shown behind the end of a compacted log', () => {
    const bench = ran(copy)
    const history: HistoryEvent[] = bench.readHistory('out')
    bench.log('out').isCompacted = true
    history.push({ kind: 'read', atMs: 1, topic: 'out', partition: 0, offset: 5_000, key: null, value: null })
    bench.more = { history }
    expect(foundIn(bench.judge())).to.include('history: G1a')
  })
})

describe('a history', () => {
  const committed: HistoryEvent = { kind: 'committed', atMs: 1, topic: 'in', partition: 0, offset: 0 }
  const foreign: HistoryEvent = {
    kind: 'read',
    atMs: 1,
    topic: 'else',
    partition: 0,
    offset: 0,
    key: null,
    value: null,
  }

  for (const [name, history] of Object.entries({
    'that is empty': [],
    'without reads': [committed, { kind: 'happened', atMs: 1, name: 'kill' }] satisfies HistoryEvent[],
    'of topics that are none of the application': [foreign],
  })) {
    it(`${name} keeps a run from being called consistent`, () => {
      const bench = ran()
      bench.more = { history }
      const judged = bench.judge()
      expect(judged.verdict).to.equal('unjudged')
      expect(reportOf(judged, 'history').reasons.join()).to.match(/names no record of the application/u)
    })
  }
})

describe('the ranges of transactions', () => {
  it('begin where reading began', () => {
    const bench = new RunBench(copy, { partitions: 1, aborts: false })
    feedOne(bench, 6)
    bench.run()
    bench.more = { beginnings: new TopicPartitionMap([[{ topic: 'in', partition: 0 }, 1]]) }
    // The result of the record before is there, and should not be.
    expect(foundIn(bench.judge())).to.include('tiling: overlap')
  })

  it('are of one moment: a number that committed twice is refused (I2)', () => {
    const bench = new RunBench(copy, { partitions: 1, aborts: false })
    feedOne(bench, 6)
    bench.run()
    const [first, last] = bench.commits
    if (first === undefined || last === undefined) throw new Error('too few commits')
    bench.commits.splice(1, 1, { ...last, transaction: first.transaction })
    expect(foundIn(bench.judge())).to.include('tiling: two steps')
  })
})
