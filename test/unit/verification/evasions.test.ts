import { expect } from 'chai'
import { encodeProvenance, PROVENANCE_HEADER, readProvenance, type Provenance } from '../../../src/engine/provenance.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { type BenchEntry, type BenchLog, plainRecord, textHeaders } from './bench-log.ts'
import { foundIn, reportOf, RunBench } from './run-bench.ts'
import { copy, counts, joined } from './topologies.ts'

type RecordEntry = Extract<BenchEntry, { kind: 'record' }>

/** An inner join with a table that keeps no changelog of its own: its updates leave no trace but their results. */
function joinedWithSource(builder: StreamsBuilder): void {
  const table = builder.table('table', { key: string, value: string, store: 'rows' })
  builder
    .stream('in', { key: string, value: string })
    .join(table, (value, row) => `${value}+${row}`)
    .to('out', { value: string })
}

/** Every record as it is, without its key. */
function keyless(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string, value: string })
    .map(value => [null, value])
    .to('out', { key: nullable(string), value: string })
}

/** Every record in a topic of its own key. */
function chosen(builder: StreamsBuilder): void {
  builder.stream('in', { key: string, value: string }).to((_value, key) => `out-${key}`)
}

/** Writes numbered values of five keys into the first partition. */
function write(bench: RunBench, topic: string, records: number): void {
  for (let at = 0; at < records; at++) {
    bench.log(topic).entries.push(plainRecord(`k${String(at % 5)}`, `v${String(at)}`, at))
  }
}

function provenanceOf(entry: BenchEntry | undefined): Provenance | undefined {
  return entry?.kind === 'record' ? readProvenance(entry.headers) : undefined
}

function marked(entry: RecordEntry, change: Partial<Provenance>): RecordEntry {
  const before = readProvenance(entry.headers)
  if (before === undefined) throw new Error('the record has no provenance')
  const mark = encodeProvenance({ ...before, ...change })
  return { ...entry, headers: entry.headers.without(PROVENANCE_HEADER).with(PROVENANCE_HEADER, mark) }
}

/** Places of the visible records that hold something, with their entries. */
function visibleIn(log: BenchLog, holds: (entry: RecordEntry) => boolean = () => true): [number, RecordEntry][] {
  return log.observed().records.flatMap(({ offset, fate }) => {
    const entry = log.entries[offset]
    return fate === 'committed' && entry?.kind === 'record' && holds(entry)
      ? ([[offset, entry]] satisfies [number, RecordEntry][])
      : []
  })
}

function isOfFirstKey({ key }: RecordEntry): boolean {
  return key?.toString() === 'k0'
}

function expectFound(bench: RunBench, ...found: readonly string[]): void {
  const verdict = bench.judge()
  expect(foundIn(verdict)).to.include.members([...found])
  expect(verdict.verdict).to.equal('violated')
}

describe('the checker is not deceived by', () => {
  it('a task that went on with a stale store, though outputs and changelog agree with each other', () => {
    const bench = new RunBench(counts, { partitions: 1 })
    write(bench, 'in', 60)
    bench.run()
    expect(bench.judge().verdict).to.equal('consistent')
    // From the fourth on each count is what it would be if the restore had missed one.
    const outputs = visibleIn(bench.log('out'), isOfFirstKey).slice(3)
    expect(outputs.length).to.be.greaterThan(1)
    for (const [at, entry] of outputs) {
      const count = Number(entry.value?.toString()) - 1
      bench.log('out').entries[at] = { ...entry, value: Buffer.from(String(count)) }
    }
    const changelog = bench.log('app-counts-changelog')
    for (const [at, entry] of visibleIn(changelog, isOfFirstKey).slice(3)) {
      const value = Buffer.from(entry.value ?? Buffer.alloc(8))
      value.writeBigInt64BE(value.readBigInt64BE(0) - 1n, 0)
      changelog.entries[at] = { ...entry, value }
    }
    expectFound(bench, 'prefixFunction: lost', 'prefixFunction: unexplained', 'state: state differs')
  })

  it('a join that met the row before, in its result and in what follows', () => {
    const bench = new RunBench(joined, { partitions: 1 })
    write(bench, 'in', 30)
    for (const [at, value] of ['one', 'two', 'three'].entries())
      bench.log('table').entries.push(plainRecord('k0', value, at * 8))
    bench.run()
    expect(bench.judge().verdict).to.equal('consistent')
    const log = bench.log('out')
    const results = visibleIn(log, ({ value }) => value?.toString().endsWith('+three') === true)
    expect(results.length).to.be.greaterThan(0)
    for (const [at, entry] of results) {
      log.entries[at] = { ...entry, value: Buffer.from(entry.value?.toString().replace('three', 'two') ?? '') }
    }
    expectFound(bench, 'prefixFunction: lost')
  })

  it('a result that a join never gave, where only the commits tell that both sides had been read', () => {
    const bench = new RunBench(joinedWithSource, {
      properties: { 'topology.optimization': 'all' },
      partitions: 1,
      aborts: false,
      recordsPerTransaction: 1,
    })
    bench.log('table').entries.push(plainRecord('k0', 'row', 1))
    bench.log('in').entries.push(plainRecord('k0', 'value', 5))
    bench.log('in').entries.push(plainRecord('k1', 'other', 6))
    bench.log('table').entries.push(plainRecord('k1', 'late', 7))
    bench.log('in').entries.push(plainRecord('k1', 'last', 8))
    bench.run()
    expect(bench.judge().verdict).to.equal('consistent')
    const [[at] = [-1]] = visibleIn(bench.log('out'), ({ value }) => value?.toString() === 'value+row')
    bench.log('out').entries.splice(at, 2)
    expectFound(bench, 'prefixFunction: lost')
  })

  it('a join whose table was read backwards between two results', () => {
    const bench = new RunBench(joined, { partitions: 1, aborts: false })
    for (let at = 0; at < 6; at++) {
      bench.log('table').entries.push(plainRecord('k0', 'same', at * 10))
      bench.log('in').entries.push(plainRecord('k0', 'v', at * 10 + 5))
    }
    bench.run()
    expect(bench.judge().verdict).to.equal('consistent')
    const log = bench.log('out')
    const [, , [at, entry] = [-1, undefined]] = visibleIn(log)
    const positions = provenanceOf(entry)?.positions ?? {}
    if (entry === undefined) throw new Error('there is no third result')
    // The row is the same, so the value does not tell.
    log.entries[at] = marked(entry, { positions: { ...positions, table: 0 } })
    expectFound(bench, 'tiling: order')
  })

  it('a transaction that became visible in two steps', () => {
    const bench = new RunBench(copy, { partitions: 1, aborts: false, recordsPerTransaction: 4 })
    write(bench, 'in', 8)
    bench.run()
    expect(bench.judge().verdict).to.equal('consistent')
    const log = bench.log('out')
    const marker = log.entries.find(entry => entry.kind === 'marker')
    if (marker === undefined) throw new Error('there is no marker')
    // A reader between the two saw half of it.
    log.entries.splice(2, 0, marker)
    expectFound(bench, 'atomicity: torn')
  })

  it('a transaction whose second half was written under another epoch', () => {
    const bench = new RunBench(counts, { partitions: 1, aborts: false, recordsPerTransaction: 4 })
    write(bench, 'in', 8)
    bench.run()
    const log = bench.log('app-counts-changelog')
    for (const at of [0, 1, 2, 3, 4]) {
      const entry = log.entries[at]
      if (entry !== undefined) log.entries[at] = { ...entry, producerEpoch: 0 }
    }
    expectFound(bench, 'atomicity: two producers')
  })

  it('offsets that were committed under another epoch than what they belong to', () => {
    const bench = new RunBench(copy, { partitions: 1, aborts: false })
    write(bench, 'in', 12)
    bench.run()
    const at = bench.commits.findIndex(({ fate }) => fate === 'committed')
    const commit = bench.commits[at]
    if (commit === undefined) throw new Error('nothing was committed')
    bench.commits[at] = { ...commit, producerEpoch: commit.producerEpoch + 1 }
    expectFound(bench, 'atomicity: two producers')
  })

  for (const hasProvenance of [true, false]) {
    it(`two results without keys that changed places in their partition, ${hasProvenance ? 'with' : 'without'} provenance`, () => {
      const bench = new RunBench(keyless, { hasProvenance, aborts: false })
      write(bench, 'in', 8)
      bench.run()
      expect(bench.judge().verdict).to.equal('consistent')
      const log = bench.log('out')
      const [first, second] = visibleIn(log)
      if (first === undefined || second === undefined) throw new Error('there are no two results')
      log.entries[first[0]] = second[1]
      log.entries[second[0]] = first[1]
      expectFound(bench, hasProvenance ? 'keyOrder: order' : 'prefixFunction: order')
    })
  }

  it('a first record that lost its provenance: the others are judged by theirs all the same', () => {
    const bench = new RunBench(counts, { partitions: 1 })
    write(bench, 'in', 20)
    bench.run()
    const log = bench.log('out')
    const [[at, entry] = [-1, undefined]] = visibleIn(log)
    if (entry === undefined) throw new Error('there is no result')
    log.entries[at] = { ...entry, headers: entry.headers.without(PROVENANCE_HEADER) }
    const commit = bench.commits.findLastIndex(({ fate }) => fate === 'committed')
    const last = bench.commits[commit]
    if (last !== undefined) bench.commits[commit] = { ...last, fate: 'aborted' }
    bench.more = { application: { ...bench.observe().application, hasProvenance: false } }
    expectFound(bench, 'atomicity: torn')
  })

  for (const hasProvenance of [true, false]) {
    it(`results that were sent outside of their transaction, ${hasProvenance ? 'with' : 'without'} provenance`, () => {
      const bench = new RunBench(copy, { partitions: 1, aborts: false, hasProvenance })
      write(bench, 'in', 12)
      bench.run()
      expect(bench.judge().verdict).to.equal('consistent')
      const log = bench.log('out').observed()
      // The same producer, the same records in the same places: but each was visible before its offset was committed.
      const records = log.records.map(record => ({ ...record, isTransactional: false, decidedAt: record.offset }))
      bench.more = { logs: bench.observe().logs.with([{ ...log, records }]) }
      const verdict = bench.judge()
      expect(verdict.verdict).to.equal(hasProvenance ? 'violated' : 'unjudged')
      expect(reportOf(verdict, 'atomicity').state).to.equal(hasProvenance ? 'failed' : 'unjudged')
    })
  }

  it('offsets that were committed outside of a transaction', () => {
    const bench = new RunBench(copy, { partitions: 1, aborts: false, hasProvenance: false })
    write(bench, 'in', 12)
    bench.run()
    bench.commits.splice(0, 1, ...bench.commits.slice(0, 1).map(commit => ({ ...commit, producerId: -1 })))
    expect(bench.judge().verdict).to.equal('unjudged')
  })

  it('a result in a topic chosen per record that was sent outside of its transaction', () => {
    const bench = new RunBench(chosen, { partitions: 1, aborts: false })
    write(bench, 'in', 12)
    bench.run()
    expect(bench.judge().verdict).to.equal('consistent')
    const log = bench.log('out-k0')
    const [at] = visibleIn(log)[0] ?? []
    const entry = at === undefined ? undefined : log.entries[at]
    if (at === undefined || entry?.kind !== 'record') throw new Error('nothing was written')
    log.entries[at] = { ...entry, producerId: -1 }
    expectFound(bench, 'atomicity: torn')
  })

  it('two results that changed places in a topic of which the cleaner took another one', () => {
    const bench = new RunBench(copy, { partitions: 1, aborts: false, hasProvenance: false })
    write(bench, 'in', 30)
    bench.run()
    const log = bench.log('out').observed()
    const [cleaned] = log.records
    const records = log.records.filter(record => record !== cleaned)
    const observe = (kept: typeof records): void => {
      const shownCommitted = kept.map(({ offset }) => offset)
      bench.more = { logs: bench.observe().logs.with([{ ...log, records: kept, shownCommitted, isCompacted: true }]) }
    }
    observe(records)
    expect(bench.judge().verdict).to.equal('consistent')
    const [first, second] = records.filter(({ key }) => key?.toString() === 'k1')
    if (first === undefined || second === undefined) throw new Error('too few records')
    observe(
      records.map(record => {
        if (record !== first && record !== second) return record
        const { key, value, timestamp, headers } = record === first ? second : first
        return { ...record, key, value, timestamp, headers }
      }),
    )
    expectFound(bench, 'prefixFunction: order')
  })

  it('a header whose name is made to look like two headers', () => {
    const bench = new RunBench(copy, { hasProvenance: false, aborts: false })
    const input = plainRecord('k', 'v')
    if (input.kind !== 'record') throw new Error('a record is a record')
    bench.log('in').entries.push({ ...input, headers: textHeaders({ a: 'a', b: 'b' }) })
    bench.run()
    expect(bench.judge().verdict).to.equal('consistent')
    const log = [0, 1].map(at => bench.log('out', at)).find(each => visibleIn(each).length > 0)
    const [[at, entry] = [-1, undefined]] = log === undefined ? [] : visibleIn(log)
    if (log === undefined || entry === undefined) throw new Error('there is no result')
    log.entries[at] = { ...entry, headers: textHeaders({ 'a|61|b': 'b' }) }
    expectFound(bench, 'prefixFunction: unexplained')
  })

  it('a result of a result that was taken back (G1a)', () => {
    const bench = new RunBench(copyTwice, { partitions: 1 })
    write(bench, 'in', 12)
    bench.run()
    const middle = bench.plan.subtopologies[0]?.repartitionTopics[0]?.topic ?? ''
    const aborted = bench
      .log(middle)
      .observed()
      .records.find(({ fate }) => fate === 'aborted')
    if (aborted === undefined) throw new Error('nothing was aborted')
    const log = bench.log('out')
    const [last] = visibleIn(log).toReversed()
    if (last === undefined) throw new Error('there is no result')
    log.entries[last[0]] = marked(last[1], { offset: aborted.offset })
    expectFound(bench, 'anomalies: G1a', 'dirtyInput: dirty read')
  })
})

function copyTwice(builder: StreamsBuilder): void {
  builder
    .stream('in', { key: string, value: string })
    .repartition({ name: 'middle', key: string, value: string })
    .to('out')
}
