import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { string } from '../../../src/serdes/text.ts'
import { plainRecord } from './bench-log.ts'
import { reportOf, RunBench } from './run-bench.ts'
import { copy, counts, countsByValue, feed, joined } from './topologies.ts'

function ran(define: ConstructorParameters<typeof RunBench>[0], hasProvenance = true): RunBench {
  const bench = new RunBench(define, { hasProvenance })
  feed(bench, 40)
  return bench.run()
}

function expectUnjudged(bench: RunBench, reason: RegExp): void {
  const verdict = bench.judge()
  expect(verdict.verdict, JSON.stringify(verdict.checks)).to.equal('unjudged')
  const reasons = verdict.checks.flatMap(check => (check.state === 'unjudged' ? check.reasons : []))
  expect(reasons.join('\n')).to.match(reason)
}

describe('the checker never says consistent', () => {
  it('of empty topics', () => {
    expectUnjudged(new RunBench(counts).run(), /nothing to judge/)
  })

  it('of topics that do not exist', () => {
    const bench = new RunBench(counts)
    bench.deleted.add('in').add('out').add('app-counts-changelog')
    expectUnjudged(bench, /nothing to judge/)
  })

  it('of input of which only aborted transactions are there', () => {
    const bench = new RunBench(copy)
    const producer = { producerId: 1, producerEpoch: 1 }
    bench
      .log('in')
      .entries.push({ ...plainRecord('k', 'v'), ...producer }, { kind: 'marker', marker: 'abort', ...producer })
    expectUnjudged(bench.run(), /nothing to judge/)
  })

  it('of input that has no results at all', () => {
    const bench = new RunBench(builder => {
      builder
        .stream('in', { key: string, value: string })
        .filter(() => false)
        .to('out')
    })
    feed(bench, 20)
    expectUnjudged(bench.run(), /nothing to compare/)
  })

  it('while records wait (lag)', () => {
    const bench = ran(copy)
    bench.log('in').entries.push(plainRecord('k', 'late'))
    expectUnjudged(bench, /not processed yet/)
  })

  it('while a transaction is open on an input', () => {
    const bench = ran(copy)
    bench.log('in').entries.push({ ...plainRecord('k', 'open'), producerId: 77, producerEpoch: 1 })
    expectUnjudged(bench, /a transaction is open on in-0/)
  })

  it('while a transaction is open on an output', () => {
    const bench = ran(copy)
    bench.log('out', 1).entries.push({ ...plainRecord('k', 'open'), producerId: 77, producerEpoch: 1 })
    expectUnjudged(bench, /a transaction is open on out-1/)
  })

  it('while the application runs', () => {
    const bench = ran(copy)
    bench.unsettled.push('the application is running')
    expectUnjudged(bench, /is running/)
  })

  it('of input whose beginning was deleted by retention', () => {
    const bench = ran(counts)
    bench.log('in').logStart = 3
    expectUnjudged(bench, /in-0 begins at offset 3/)
  })

  it('of a repartition topic that was purged', () => {
    const bench = ran(countsByValue)
    const topic = bench.plan.subtopologies[0]?.repartitionTopics[0]?.topic ?? ''
    bench.log(topic, 1).logStart = 2
    expectUnjudged(bench, /repartition purge/)
  })

  it('of an output whose beginning was deleted', () => {
    const bench = ran(copy)
    bench.log('out').logStart = 4
    expectUnjudged(bench, /out-0 begins at offset 4/)
  })

  it('of an output that was made anew: what had been written is lost', () => {
    const bench = ran(copy)
    bench.log('out').entries.length = 0
    bench.log('out', 1).entries.length = 0
    expect(bench.judge().verdict).to.equal('violated')
  })

  it('of an output that is gone', () => {
    const bench = ran(copy)
    bench.deleteTopic('out')
    bench.deleted.add('out')
    expect(bench.judge().verdict).to.equal('violated')
  })

  it('of an application that has written the same into two groups, one of them unknown', () => {
    const bench = ran(counts)
    const log = bench.log('out')
    const [first] = log.entries
    if (first?.kind === 'record') log.entries.push({ ...first, headers: NO_HEADERS, producerId: -1 })
    expect(bench.judge().verdict).to.equal('violated')
  })

  it('of several inputs without provenance: nobody knows their order', () => {
    const bench = new RunBench(joined, { hasProvenance: false })
    feed(bench, 20)
    feed(bench, 12, 'table')
    expectUnjudged(bench.run(), /nobody knows in which order/)
  })

  it('of a group whose offsets are gone', () => {
    const bench = ran(copy)
    bench.committed.clear()
    const { verdict } = bench.judge()
    expect(verdict).to.not.equal('consistent')
  })

  it('of a run in which the faults did not happen', () => {
    const bench = ran(counts)
    bench.more = { occurrences: { required: { abort: 1, kill: 3 }, seen: { abort: 4, kill: 2 } } }
    expectUnjudged(bench, /void: kill happened 2 times/)
  })

  it('of a compacted input: what was cleaned away may have had results', () => {
    const bench = ran(copy)
    const log = bench.log('in')
    const observed = bench.observe()
    const cleaned = {
      ...log.observed(),
      records: log.observed().records.slice(1),
      isCompacted: true,
      shownCommitted: log.observed().shownCommitted.slice(1),
    }
    bench.more = { logs: observed.logs.with([cleaned]) }
    expectUnjudged(bench, /has been compacted/)
  })

  it('of input that began to be read elsewhere than at its beginning', () => {
    const bench = ran(copy)
    bench.more = { beginnings: new TopicPartitionMap([[{ topic: 'in', partition: 0 }, 6]]) }
    expect(bench.judge().verdict).to.equal('violated')
  })
})

describe('the checker', () => {
  it('accepts that a compacted changelog has lost superseded values', () => {
    const bench = ran(counts)
    const log = bench.log('app-counts-changelog')
    const full = log.observed()
    const last = new Map(full.records.filter(({ fate }) => fate === 'committed').map(r => [r.key?.toString('hex'), r]))
    const kept = full.records.filter(record => last.get(record.key?.toString('hex')) === record)
    const cleaned = {
      ...full,
      isCompacted: true,
      records: kept,
      shownCommitted: kept.map(({ offset }) => offset),
    }
    bench.more = { logs: bench.observe().logs.with([cleaned]) }
    const verdict = bench.judge()
    expect(verdict.verdict, JSON.stringify(verdict.checks)).to.equal('consistent')
    expect(reportOf(verdict, 'state').state).to.equal('passed')
    // Whether they had ever been there, nobody can tell any more.
    expect(reportOf(verdict, 'prefixFunction').reasons.join()).to.match(
      /\d+ records of app-counts-changelog-0, which the cleaner may have taken/u,
    )
  })

  it('accepts a history that agrees, and counters that were reached', () => {
    const bench = ran(counts)
    bench.more = {
      history: bench.readHistory('out'),
      occurrences: { required: { abort: 1 }, seen: { abort: 1 } },
      recovery: { healedAtMs: 10, caughtUpAtMs: 60, boundMs: 100 },
    }
    const verdict = bench.judge()
    expect(verdict.verdict, JSON.stringify(verdict.checks)).to.equal('consistent')
    for (const check of ['history', 'occurrences', 'liveness'] as const) {
      expect(reportOf(verdict, check).state).to.equal('passed')
    }
  })

  it('refuses a recovery that was too slow, or never came (I15)', () => {
    const bench = ran(counts)
    bench.more = { recovery: { healedAtMs: 10, caughtUpAtMs: 600, boundMs: 100 } }
    expect(reportOf(bench.judge(), 'liveness').state).to.equal('failed')
    bench.more = { recovery: { healedAtMs: 10, caughtUpAtMs: undefined, boundMs: 100 } }
    expect(reportOf(bench.judge(), 'liveness').state).to.equal('failed')
  })
})
