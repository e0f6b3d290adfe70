import { expect } from 'chai'
import { encodeProvenance, PROVENANCE_HEADER, readProvenance, type Provenance } from '../../../src/engine/provenance.ts'
import { string } from '../../../src/serdes/text.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { ObservedLogs, type ObservedPartition, type ObservedRecord } from '../../../src/verification/observed-log.ts'
import { type BenchEntry, type BenchLog, plainRecord } from './bench-log.ts'
import { foundIn, reportOf, RunBench, type RunBenchOptions } from './run-bench.ts'
import { copy, counts, countsByValue, feed, joined } from './topologies.ts'

type RecordEntry = Extract<BenchEntry, { kind: 'record' }>

const MODES = [true, false].map(hasProvenance => ({
  hasProvenance,
  mode: hasProvenance ? 'with provenance' : 'without provenance',
}))

/** A run that is consistent before anything is done to it. */
function good(define: (builder: StreamsBuilder) => void, options: RunBenchOptions, records = 40): RunBench {
  const bench = new RunBench(define, options)
  feedAll(bench, records)
  bench.run()
  expect(bench.judge().verdict, JSON.stringify(bench.judge().checks)).to.equal('consistent')
  return bench
}

/** Numbered values of five keys; with two partitions also aborted input. */
function feedAll(bench: RunBench, records: number): void {
  if (bench.options.partitions !== 1) {
    feed(bench, records)
    return
  }
  for (let at = 0; at < records; at++)
    bench.log('in').entries.push(plainRecord(`k${String(at % 5)}`, `v${String(at)}`, at))
}

/** Rows of a table, of which some are deleted: what is left of a key may be a deletion. */
function rows(builder: StreamsBuilder): void {
  builder
    .table('in', { key: string, value: string, store: 'rows' })
    .mapValues(value => `${value}!`)
    .toStream()
    .to('out', { value: string })
}

function visibleIn(log: BenchLog): readonly (readonly [at: number, entry: RecordEntry])[] {
  return log.observed().records.flatMap(({ offset, fate }) => {
    const entry = log.entries[offset]
    return fate === 'committed' && entry?.kind === 'record' ? [[offset, entry] as const] : []
  })
}

function nth(log: BenchLog, place: number): readonly [at: number, entry: RecordEntry] {
  const found = visibleIn(log).at(place)
  if (found === undefined) throw new Error(`${log.topic} has no record ${String(place)}`)
  return found
}

function marked(entry: RecordEntry, change: Partial<Provenance>): RecordEntry {
  const before = readProvenance(entry.headers)
  if (before === undefined) return entry
  const mark = encodeProvenance({ ...before, ...change })
  return { ...entry, headers: entry.headers.without(PROVENANCE_HEADER).with(PROVENANCE_HEADER, mark) }
}

/** Puts records behind the end, as one committed transaction. */
function append(log: BenchLog, entries: readonly RecordEntry[], producerId: number, producerEpoch = 5_000): void {
  for (const entry of entries) log.entries.push({ ...entry, producerId, producerEpoch })
  log.entries.push({ kind: 'marker', marker: 'commit', producerId, producerEpoch })
}

function expectViolated(bench: RunBench, ...found: readonly string[]): void {
  const judged = bench.judge()
  expect(foundIn(judged)).to.include.members([...found])
  expect(judged.verdict).to.equal('violated')
}

for (const { hasProvenance, mode } of MODES) {
  describe(`falsified logs, ${mode}: the checker tells`, () => {
    it('a result again in a later transaction of the same producer', () => {
      const bench = good(counts, { hasProvenance })
      const log = bench.log('out')
      const [, entry] = nth(log, 2)
      append(log, [marked(entry, { transaction: 9_999 })], entry.producerId)
      expectViolated(
        bench,
        'prefixFunction: duplicate',
        ...(hasProvenance ? ['anomalies: duplicate', 'tiling: gap'] : []),
      )
    })

    it('one record lost at the very end, with the marker behind it', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false, recordsPerTransaction: 1 })
      bench.log('out').entries.splice(-2)
      expectViolated(bench, 'prefixFunction: lost')
    })

    it('a whole transaction lost at the end of every log', () => {
      const bench = good(counts, { hasProvenance, partitions: 1, aborts: false, recordsPerTransaction: 1 })
      bench.log('out').entries.splice(-2)
      bench.log('app-counts-changelog').entries.splice(-2)
      expectViolated(bench, 'prefixFunction: lost', 'state: state differs')
    })

    it('two results of one key that changed places, though the logs are as long as before', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false })
      const log = bench.log('out')
      const [[at, one], [behind, other]] = [nth(log, 0), nth(log, 5)]
      expect(String(one.key)).to.equal(String(other.key))
      log.entries[at] = other
      log.entries[behind] = one
      expectViolated(bench, hasProvenance ? 'keyOrder: order' : 'prefixFunction: order')
    })

    it('an aborted transaction made visible everywhere', () => {
      const bench = good(counts, { hasProvenance, partitions: 1 })
      for (const topic of ['out', 'app-counts-changelog']) {
        const { entries } = bench.log(topic)
        const at = entries.findIndex(entry => entry.kind === 'marker' && entry.marker === 'abort')
        const marker = entries[at]
        if (marker?.kind !== 'marker') throw new Error(`nothing of ${topic} was aborted`)
        entries[at] = { ...marker, marker: 'commit' }
      }
      expectViolated(bench, 'prefixFunction: duplicate', ...(hasProvenance ? ['atomicity: torn'] : []))
    })

    it('offsets that are ahead of the results', () => {
      const bench = good(counts, { hasProvenance, partitions: 1 })
      const log = bench.log('in')
      log.entries.push(plainRecord('k1', 'never taken', 99))
      const last = bench.commits.findLast(({ fate }) => fate === 'committed')
      if (last === undefined) throw new Error('nothing was committed')
      bench.commits.push({ ...last, offset: log.end, transaction: 9_999, decidedAt: 9_999, producerEpoch: 9_999 })
      bench.committed.set({ topic: 'in', partition: 0 }, { offset: log.end, leaderEpoch: -1, metadata: 'ours' })
      expectViolated(bench, 'prefixFunction: lost', 'state: state differs')
    })

    it('offsets that are behind the results', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false })
      const { offset = 0 } = bench.committed.get({ topic: 'in', partition: 0 }) ?? {}
      bench.committed.set({ topic: 'in', partition: 0 }, { offset: offset - 1, leaderEpoch: -1, metadata: 'ours' })
      expectViolated(bench, 'prefixFunction: unexplained', 'tiling: inconsistent offset')
    })

    it('a changelog that lacks one update in its middle', () => {
      const bench = good(counts, { hasProvenance })
      const log = bench.log('app-counts-changelog')
      log.entries.splice(nth(log, 1)[0], 1)
      expectViolated(bench, 'prefixFunction: lost')
    })

    it('the results of two transactional ids mixed in one transaction', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false, recordsPerTransaction: 4 })
      const log = bench.log('out')
      const [at, entry] = nth(log, 1)
      // The other producer commits in the middle of the first one's transaction, as a zombie would.
      log.entries[at] = { ...entry, producerId: 77, producerEpoch: 3 }
      log.entries.splice(at + 1, 0, { kind: 'marker', marker: 'commit', producerId: 77, producerEpoch: 3 })
      if (hasProvenance) expectViolated(bench, 'atomicity: two producers', 'atomicity: torn')
      // What is visible is the same; that it was once torn nothing tells, and so the yes is a weaker one.
      else expect(bench.judge()).to.include({ verdict: 'consistent', isComplete: false })
    })

    it('a partition that was never read', () => {
      const bench = good(copy, { hasProvenance })
      for (const partition of [0, 1]) bench.log('out', partition).entries.length = 0
      bench.committed.delete({ topic: 'in', partition: 1 })
      expect(bench.judge().verdict).to.equal('violated')
      const untouched = new RunBench(copy, { hasProvenance })
      for (let at = 0; at < 8; at++) untouched.log('in').entries.push(plainRecord(`k${String(at)}`, 'v', at))
      untouched.run()
      untouched.log('in', 1).entries.push(plainRecord('k', 'waits'))
      untouched.committed.delete({ topic: 'in', partition: 1 })
      expect(untouched.judge().verdict).to.equal('unjudged')
    })

    it('a partition that was read and is not there any more', () => {
      const bench = new RunBench(copy, { hasProvenance, aborts: false })
      for (let at = 0; at < 12; at++)
        bench.log('in', at % 2).entries.push(plainRecord(`k${String(at)}`, `v${String(at)}`, at))
      bench.run()
      expect(bench.judge().verdict).to.equal('consistent')
      const { offsetHistory, logs } = bench.observe()
      const left = logs.all().filter(({ topic, partition }) => topic !== 'in' || partition === 0)
      // Its results are taken away with it, so that nothing else could tell.
      const cause = new Set(logs.of('in').flatMap(log => (log.partition === 1 ? log.records.map(keyValue) : [])))
      const without = left.map(log => (log.topic === 'out' ? keptOf(log, record => !cause.has(keyValue(record))) : log))
      bench.more = { logs: new ObservedLogs(without), offsetHistory }
      expectViolated(bench, 'quiescence: beyond the end')
    })

    it('records of a stranger in between', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false })
      bench.log('out').entries.splice(2, 0, plainRecord('k0', 'of a stranger', 1))
      expectViolated(bench, 'prefixFunction: unexplained', ...(hasProvenance ? ['anomalies: foreign'] : []))
    })

    it('a record of a stranger in a changelog that folds to the same state', () => {
      const bench = good(counts, { hasProvenance, partitions: 1, aborts: false })
      const log = bench.log('app-counts-changelog')
      log.entries.splice(0, 0, { ...nth(log, 0)[1], value: Buffer.alloc(16, 9), producerId: 88, producerEpoch: 0 })
      log.entries.splice(1, 0, { kind: 'marker', marker: 'commit', producerId: 88, producerEpoch: 0 })
      expectViolated(bench, 'prefixFunction: unexplained')
    })

    it('a key that moved to another partition for good', () => {
      const bench = good(copy, { hasProvenance, aborts: false })
      const [from, to] = [bench.log('out', 0), bench.log('out', 1)]
      const key = String(nth(from, 0)[1].key)
      const moved = visibleIn(from).filter(([, entry]) => String(entry.key) === key)
      for (const [at] of moved.toReversed()) from.entries.splice(at, 1)
      append(
        to,
        moved.map(([, entry]) => entry),
        88,
      )
      expectViolated(bench, 'prefixFunction: lost', 'prefixFunction: unexplained')
    })

    it('a changed time in a topic that only later got its times of the broker', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false })
      const log = bench.log('out')
      log.appendTime = 4_711
      log.appendTimeFrom = log.end - 3
      expect(bench.judge().verdict).to.equal('consistent')
      const [at, entry] = nth(log, 1)
      log.entries[at] = { ...entry, timestamp: 12_345 }
      expectViolated(bench, 'prefixFunction: unexplained')
    })

    it('a deletion that is missing in the output and in the changelog', () => {
      const bench = new RunBench(rows, { hasProvenance, partitions: 1, aborts: false })
      for (const [at, value] of ['one', 'two', null].entries())
        bench.log('in').entries.push(plainRecord('k', value, at))
      bench.run()
      expect(bench.judge().verdict).to.equal('consistent')
      for (const log of [bench.log('out'), bench.log('app-rows-changelog')]) {
        const [at, entry] = nth(log, -1)
        expect(entry.value).to.equal(null)
        log.entries.splice(at, 1)
      }
      expectViolated(bench, 'prefixFunction: lost', 'state: state differs')
    })

    it('two results of different values that exchanged their headers', () => {
      const bench = new RunBench(copy, { hasProvenance, partitions: 1, aborts: false })
      for (const at of [0, 1, 2, 3]) {
        const entry = plainRecord('k', `v${String(at)}`, at)
        if (entry.kind === 'record')
          bench.log('in').entries.push({ ...entry, headers: entry.headers.with('id', Buffer.from(String(at))) })
      }
      bench.run()
      expect(bench.judge().verdict).to.equal('consistent')
      const log = bench.log('out')
      const [[at, one], [behind, other]] = [nth(log, 0), nth(log, 1)]
      log.entries[at] = { ...one, headers: other.headers }
      log.entries[behind] = { ...other, headers: one.headers }
      expectViolated(bench, 'prefixFunction: unexplained', 'prefixFunction: lost')
    })

    it('a repartition record that was read and is not there', () => {
      const bench = good(countsByValue, { hasProvenance, aborts: false })
      const topic = bench.plan.subtopologies[0]?.repartitionTopics[0]?.topic ?? ''
      const log = [0, 1].map(partition => bench.log(topic, partition)).find(each => visibleIn(each).length > 0)
      if (log === undefined) throw new Error('nothing was repartitioned')
      const [at] = nth(log, 0)
      log.entries[at] = { kind: 'marker', marker: 'commit', producerId: 66, producerEpoch: 0 }
      expectViolated(bench, 'prefixFunction: lost', 'prefixFunction: unexplained')
    })

    it('two transactions of one producer that one marker decided, as a forgotten marker leaves them', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false, recordsPerTransaction: 2 })
      const { entries } = bench.log('out')
      entries.splice(
        entries.findIndex(({ kind }) => kind === 'marker'),
        1,
      )
      expectViolated(bench, 'atomicity: two epochs')
    })

    it('an epoch that goes back', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false })
      const log = bench.log('out')
      const [at, entry] = nth(log, -1)
      log.entries[at] = { ...entry, producerEpoch: 0 }
      expectViolated(bench, 'fencing: old epoch')
    })
  })

  describe(`falsified logs that the cleaner went through, ${mode}: the checker tells`, () => {
    it('an update that is missing behind an older one of its key', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false })
      cleanedOutput(bench, 4, () => false)
      expect(bench.judge()).to.include({ verdict: 'consistent', isComplete: false })
      cleanedOutput(bench, 4, fromEnd => fromEnd === 2)
      expectViolated(bench, 'prefixFunction: lost')
    })

    it('the newest of a key', () => {
      const bench = good(copy, { hasProvenance, partitions: 1, aborts: false })
      cleanedOutput(bench, 3, fromEnd => fromEnd === 1)
      expectViolated(bench, 'prefixFunction: lost')
    })

    it('a deletion that is gone although what it deletes is there', () => {
      const bench = new RunBench(rows, { hasProvenance, partitions: 1, aborts: false })
      for (const [at, value] of ['one', 'two', 'three', null].entries())
        bench.log('in').entries.push(plainRecord('k', value, at))
      bench.run()
      cleanedOutput(bench, 0, () => false)
      expect(bench.judge(), JSON.stringify(bench.judge().checks)).to.include({
        verdict: 'consistent',
        isComplete: false,
      })
      cleanedOutput(bench, 2, fromEnd => fromEnd === 1)
      expectViolated(bench, 'prefixFunction: lost')
    })

    it('no loss where the newest of equal records is what is left', () => {
      const bench = new RunBench(copy, { hasProvenance, partitions: 1, aborts: false })
      for (let at = 0; at < 4; at++) bench.log('in').entries.push(plainRecord('k', 'same', 7))
      bench.run()
      cleanedOutput(bench, 1, () => false)
      expect(bench.judge(), JSON.stringify(bench.judge().checks)).to.include({
        verdict: 'consistent',
        isComplete: false,
      })
    })
  })
}

describe('falsified provenance: the checker tells', () => {
  it('a task that does not read what it names', () => {
    const bench = good(copy, { hasProvenance: true })
    const log = bench.log('out')
    const [at, entry] = nth(log, 0)
    log.entries[at] = marked(entry, { task: '7_0' })
    expectViolated(bench, 'anomalies: foreign')
  })

  it('that a join may hide results where the log of commits cannot be read', () => {
    const bench = new RunBench(joined, {})
    feed(bench, 20)
    feed(bench, 12, 'table')
    bench.run()
    expect(bench.judge()).to.include({ verdict: 'consistent', isComplete: true })
    bench.hasHistory = false
    expect(bench.judge()).to.include({ verdict: 'consistent', isComplete: false })
    expect(reportOf(bench.judge(), 'prefixFunction').leftOut.join()).to.match(
      /task 0_0 reads 2 inputs, .*in which order/u,
    )
  })
})

function keyValue({ key, value }: { readonly key: Buffer | null; readonly value: Buffer | null }): string {
  return `${String(key)}=${String(value)}`
}

function keptOf(
  log: ObservedPartition,
  isKept: (record: ObservedPartition['records'][number]) => boolean,
): ObservedPartition {
  const records = log.records.filter(isKept)
  const shownCommitted = records.filter(({ fate }) => fate === 'committed').map(({ offset }) => offset)
  return { ...log, records, shownCommitted }
}

/** The output as the cleaner leaves it: of each key only the last so many; then what `isLost` says is lost besides. */
function cleanedOutput(bench: RunBench, keep: number, isLost: (at: number, of: number) => boolean): void {
  const log = bench.log('out').observed()
  const byKey = new Map<string, ObservedRecord[]>()
  for (const record of log.records.filter(({ fate }) => fate === 'committed'))
    byKey.set(String(record.key), [...(byKey.get(String(record.key)) ?? []), record])
  bench.more = {
    logs: bench.observe().logs.with([
      keptOf({ ...log, isCompacted: true }, record => {
        const list = byKey.get(String(record.key)) ?? []
        const fromEnd = list.length - list.indexOf(record)
        return fromEnd <= keep && !isLost(fromEnd, list.length)
      }),
    ]),
  }
}
