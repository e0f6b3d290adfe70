import { expect } from 'chai'
import { encodeProvenance, PROVENANCE_HEADER, readProvenance, type Provenance } from '../../../src/engine/provenance.ts'
import type { CheckName } from '../../../src/verification/verdict.ts'
import type { BenchEntry, BenchLog } from './bench-log.ts'
import { foundIn, reportOf, RunBench } from './run-bench.ts'
import { copy, counts, countsByValue, feed, joined, numbers } from './topologies.ts'
import { plainRecord } from './bench-log.ts'

type RecordEntry = Extract<BenchEntry, { kind: 'record' }>

function ran(define: ConstructorParameters<typeof RunBench>[0], hasProvenance = true): RunBench {
  const bench = new RunBench(define, { hasProvenance })
  feed(bench, 40)
  return bench.run()
}

/** Positions of the records of committed transactions. */
function committedAt(log: BenchLog): readonly number[] {
  return log
    .observed()
    .records.filter(({ fate }) => fate === 'committed')
    .map(({ offset }) => offset)
}

function recordAt(log: BenchLog, at: number | undefined): RecordEntry {
  const entry = log.entries[at ?? -1]
  if (entry?.kind !== 'record') throw new Error('there is no record at this place')
  return entry
}

function changed(entry: RecordEntry, change: Partial<Provenance>): RecordEntry {
  const provenance = readProvenance(entry.headers)
  if (provenance === undefined) throw new Error('the record has no provenance')
  const mark = encodeProvenance({ ...provenance, ...change })
  return { ...entry, headers: entry.headers.without(PROVENANCE_HEADER).with(PROVENANCE_HEADER, mark) }
}

function expectFound(bench: RunBench, check: CheckName, kind: string): void {
  const verdict = bench.judge()
  expect(verdict.verdict).to.equal('violated')
  expect(foundIn(verdict)).to.include(`${check}: ${kind}`)
}

for (const hasProvenance of [true, false]) {
  describe(`the checker refuses, ${hasProvenance ? 'with' : 'without'} provenance,`, () => {
    it('a lost output (I1)', () => {
      const bench = ran(counts, hasProvenance)
      const log = bench.log('out')
      log.entries.splice(committedAt(log)[5] ?? 0, 1)
      expectFound(bench, 'prefixFunction', 'lost')
    })

    it('a lost tail (I1)', () => {
      const bench = ran(counts, hasProvenance)
      const log = bench.log('out', 1)
      log.entries.splice(committedAt(log).at(-1) ?? 0)
      expectFound(bench, 'prefixFunction', 'lost')
    })

    it('an output that was written twice (I1)', () => {
      const bench = ran(counts, hasProvenance)
      const log = bench.log('out')
      log.entries.push({ ...recordAt(log, committedAt(log)[2]), producerId: -1 })
      expectFound(bench, 'prefixFunction', 'duplicate')
    })

    it('an output that was written again under another key (I1)', () => {
      const bench = ran(copy, hasProvenance)
      const log = bench.log('out')
      log.entries.push({ ...recordAt(log, committedAt(log)[2]), key: Buffer.from('other'), producerId: -1 })
      expectFound(bench, 'prefixFunction', 'unexplained')
    })

    it('another value (I1)', () => {
      const bench = ran(counts, hasProvenance)
      const log = bench.log('out')
      const at = committedAt(log)[3] ?? -1
      log.entries[at] = { ...recordAt(log, at), value: Buffer.from('7') }
      expectFound(bench, 'prefixFunction', 'unexplained')
    })

    it('another timestamp (I1)', () => {
      const bench = ran(counts, hasProvenance)
      const log = bench.log('out')
      const at = committedAt(log)[3] ?? -1
      log.entries[at] = { ...recordAt(log, at), timestamp: 4_711 }
      expectFound(bench, 'prefixFunction', 'unexplained')
    })

    it('two outputs of one key in the wrong order (I8)', () => {
      const bench = ran(counts, hasProvenance)
      const log = bench.log('out')
      const places = committedAt(log)
      const key = recordAt(log, places[0]).key?.toString()
      const [first = -1, second = -1] = places.filter(at => recordAt(log, at).key?.toString() === key)
      const [one, two] = [recordAt(log, first), recordAt(log, second)]
      log.entries[first] = { ...two, producerId: one.producerId, producerEpoch: one.producerEpoch }
      log.entries[second] = { ...one, producerId: two.producerId, producerEpoch: two.producerEpoch }
      expectFound(bench, 'prefixFunction', 'order')
    })

    it('a record in another partition than that of its key', () => {
      const bench = ran(copy, hasProvenance)
      const log = bench.log('out')
      const [at = -1] = committedAt(log)
      bench.log('out', 1).entries.push({ ...recordAt(log, at), producerId: -1 })
      log.entries.splice(at, 1)
      const found = foundIn(bench.judge())
      expect(found).to.include('prefixFunction: lost')
      expect(found).to.include('prefixFunction: unexplained')
    })

    it('a changelog that lacks a write (I4)', () => {
      const bench = ran(counts, hasProvenance)
      const log = bench.log('app-counts-changelog')
      log.entries.splice(committedAt(log).at(-1) ?? 0, 1)
      expectFound(bench, 'state', 'state differs')
    })

    it('a changelog that lacks a write in its middle, where the topic is compacted (I4)', () => {
      const bench = ran(counts, hasProvenance)
      const log = bench.log('app-counts-changelog')
      log.isCompacted = true
      log.entries.splice(committedAt(log)[1] ?? 0, 1)
      expectFound(bench, 'prefixFunction', 'lost')
    })

    it('a local store that holds another value than the changelog (I4)', () => {
      const bench = ran(counts, hasProvenance)
      bench.more = { stores: [{ store: 'counts', partition: 0, entries: [[Buffer.from('k0'), Buffer.alloc(8)]] }] }
      expectFound(bench, 'state', 'state differs')
    })

    it('results of input whose transaction was aborted (I7)', () => {
      const bench = ran(copy, hasProvenance)
      const aborted = bench
        .log('in')
        .observed()
        .records.find(({ fate }) => fate === 'aborted')
      const log = bench.log('out')
      const like = recordAt(log, committedAt(log)[0])
      const entry = { ...like, key: Buffer.from('k0'), value: Buffer.from('never'), producerId: -1 }
      log.entries.push(hasProvenance ? changed(entry, { offset: aborted?.offset ?? -1 }) : entry)
      expectFound(bench, 'prefixFunction', 'unexplained')
      if (hasProvenance) expectFound(bench, 'dirtyInput', 'dirty read')
    })

    it('a repartition topic that lost a record, though all that follows fits it', () => {
      const bench = ran(countsByValue, hasProvenance)
      const topic = bench.plan.subtopologies[0]?.repartitionTopics[0]?.topic ?? ''
      const log = bench.log(topic)
      log.entries.push({ ...recordAt(log, committedAt(log)[0]), producerId: -1 })
      expectFound(bench, 'prefixFunction', 'duplicate')
    })

    it('an offset that was committed beyond the end (a topic made anew)', () => {
      const bench = ran(copy, hasProvenance)
      bench.committed.set({ topic: 'in', partition: 0 }, { offset: 999, leaderEpoch: -1, metadata: '' })
      expectFound(bench, 'quiescence', 'beyond the end')
    })

    it('an offset that skips a record whose result is missing (I2)', () => {
      const bench = ran(copy, hasProvenance)
      bench.log('in').entries.push(plainRecord('k1', 'skipped', 99))
      const end = bench.log('in').end
      bench.committed.set({ topic: 'in', partition: 0 }, { offset: end, leaderEpoch: -1, metadata: '' })
      expectFound(bench, 'prefixFunction', 'lost')
    })

    it('a committed offset that went back (I6)', () => {
      const bench = ran(copy, hasProvenance)
      const commit = bench.commits.find(({ fate, offset }) => fate === 'committed' && offset > 0)
      if (commit !== undefined) bench.commits.push({ ...commit, offset: commit.offset - 1, transaction: 5 })
      expectFound(bench, 'monotony', 'goes back')
    })

    it('a committed offset that an observer saw going back (I6)', () => {
      const bench = ran(copy, hasProvenance)
      const seen = { kind: 'committed', topic: 'in', partition: 0 } as const
      bench.more = {
        history: [
          { ...seen, atMs: 1, offset: 9 },
          { ...seen, atMs: 2, offset: 4 },
        ],
      }
      expectFound(bench, 'monotony', 'goes back')
    })

    it('a reader that the broker shows what the markers call aborted', () => {
      const bench = ran(copy, hasProvenance)
      const log = bench.log('in')
      log.shownCommitted = log.observed().records.map(({ offset }) => offset)
      expectFound(bench, 'readers', 'readers disagree')
    })

    it('a record that a reader was shown and that is aborted now (G1a)', () => {
      const bench = ran(counts, hasProvenance)
      const hidden = [0, 1]
        .flatMap(partition => bench.log('out', partition).observed().records)
        .find(({ fate }) => fate === 'aborted')
      if (hidden === undefined) throw new Error('no output was aborted')
      const { topic, partition, offset, key, value } = hidden
      const hex = { key: key?.toString('hex') ?? null, value: value?.toString('hex') ?? null }
      bench.more = { history: [{ kind: 'read', atMs: 1, topic, partition, offset, ...hex }] }
      expectFound(bench, 'history', 'G1a')
    })

    it('a record that appeared behind a reader (lost write)', () => {
      const bench = ran(counts, hasProvenance)
      const history = bench.readHistory('out')
      history.splice(2, 1)
      bench.more = { history }
      expectFound(bench, 'history', 'lost write')
    })

    it('a record of which a reader was shown another value', () => {
      const bench = ran(counts, hasProvenance)
      bench.more = {
        history: bench.readHistory('out').map(event => (event.kind === 'read' ? { ...event, value: '00' } : event)),
      }
      expectFound(bench, 'history', 'G1a')
    })

    it('a refused record without a dead letter, and one with two (I16)', () => {
      const bench = new RunBench(numbers, {
        hasProvenance,
        policies: { deserialization: 'deadLetter', deadLetterTopic: 'dead' },
      })
      for (const value of ['1', 'no number', '2', '{', '3']) bench.log('in').entries.push(plainRecord('k', value))
      bench.run()
      expect(bench.judge().verdict).to.equal('consistent')
      expect(reportOf(bench.judge(), 'deadLetters').compared).to.be.greaterThan(1)
      const log = [bench.log('dead'), bench.log('dead', 1)].find(each => committedAt(each).length > 0)
      if (log === undefined) throw new Error('there are no dead letters')
      const [at = -1] = committedAt(log)
      const letter = recordAt(log, at)
      log.entries.push({ ...letter, producerId: -1 })
      expectFound(bench, 'deadLetters', 'duplicate')
      log.entries.pop()
      log.entries.splice(at, 1)
      expectFound(bench, 'deadLetters', 'lost')
    })
  })
}

describe('the checker refuses what only provenance shows:', () => {
  it('a transaction of which only a part is visible (I3)', () => {
    const bench = ran(counts)
    const log = bench.log('app-counts-changelog')
    const at = log.entries.findIndex(entry => entry.kind === 'marker' && entry.marker === 'commit')
    const marker = log.entries[at]
    if (marker?.kind === 'marker') log.entries[at] = { ...marker, marker: 'abort' }
    expectFound(bench, 'atomicity', 'torn')
  })

  it('visible outputs whose offsets were aborted (I3)', () => {
    const bench = ran(counts)
    const at = bench.commits.findIndex(({ fate }) => fate === 'committed')
    const commit = bench.commits[at]
    if (commit !== undefined) bench.commits[at] = { ...commit, fate: 'aborted' }
    expectFound(bench, 'atomicity', 'torn')
  })

  it('outputs of one transaction by two producers', () => {
    const bench = ran(counts)
    const log = bench.log('out')
    const [at = -1] = committedAt(log)
    log.entries[at] = { ...recordAt(log, at), producerId: -1 }
    expectFound(bench, 'atomicity', 'two producers')
  })

  it('a record of an old owner that became visible after a new one had begun (I5)', () => {
    const bench = ran(counts)
    const log = bench.log('app-counts-changelog')
    log.entries.push({ ...changed(recordAt(log, committedAt(log)[0]), { ordinal: 9 }), producerId: -1 })
    expectFound(bench, 'fencing', 'old owner')
  })

  it('an epoch that goes back in a partition (I5)', () => {
    const bench = ran(counts)
    const log = bench.log('out')
    const at = committedAt(log).at(-1) ?? -1
    log.entries[at] = { ...recordAt(log, at), producerEpoch: 0 }
    expectFound(bench, 'fencing', 'old epoch')
  })

  it('one effect at two offsets', () => {
    const bench = ran(counts)
    const log = bench.log('out')
    log.entries.push({ ...recordAt(log, committedAt(log)[2]), producerId: -1 })
    expectFound(bench, 'anomalies', 'duplicate')
  })

  it('a record that another application wrote', () => {
    const bench = ran(counts)
    bench.log('out').entries.push(plainRecord('k0', '9'))
    expectFound(bench, 'anomalies', 'foreign')
  })

  it('a result of a record outside the range of its transaction (I2)', () => {
    const bench = ran(copy)
    const log = bench.log('out')
    const at = committedAt(log)[4] ?? -1
    const before = readProvenance(recordAt(log, committedAt(log)[0]).headers)
    log.entries[at] = changed(recordAt(log, at), { transaction: before?.transaction ?? 0 })
    expectFound(bench, 'tiling', 'overlap')
  })

  it('the same without the log of offsets: transactions whose inputs lie within each other (I2)', () => {
    const bench = ran(copy)
    bench.hasHistory = false
    const log = bench.log('out')
    const ofTask = committedAt(log).filter(at => readProvenance(recordAt(log, at).headers)?.task === '0_0')
    const at = ofTask.at(-1) ?? -1
    const before = readProvenance(recordAt(log, ofTask[0]).headers)
    log.entries[at] = changed(recordAt(log, at), { transaction: before?.transaction ?? 0 })
    expectFound(bench, 'tiling', 'overlap')
  })

  it('a result of a record that is not committed (I2)', () => {
    const bench = ran(copy)
    const log = bench.log('out')
    const at = committedAt(log).at(-1) ?? -1
    log.entries[at] = changed(recordAt(log, at), { offset: 5_000 })
    expectFound(bench, 'tiling', 'overlap')
  })

  it('a circle of transactions that read from each other (G1c)', () => {
    const bench = ran(countsByValue)
    const topic = bench.plan.subtopologies[0]?.repartitionTopics[0]?.topic ?? ''
    const log = bench.log(topic)
    const out = bench.log('out')
    const reader = committedAt(out)
      .map(at => readProvenance(recordAt(out, at).headers))
      .find(provenance => provenance?.topic === topic && provenance.partition === 0)
    const at = reader?.offset ?? -1
    // The record it read was written by the transaction that read it.
    log.entries[at] = changed(recordAt(log, at), { transaction: reader?.transaction ?? 0 })
    expectFound(bench, 'anomalies', 'G1c')
  })

  it('a join with another version of the table than the one that had been read', () => {
    const bench = new RunBench(joined)
    feed(bench, 20)
    feed(bench, 12, 'table')
    bench.run()
    const log = bench.log('out')
    const at = committedAt(log).find(place => recordAt(log, place).value?.toString().includes('+v') === true) ?? -1
    log.entries[at] = { ...recordAt(log, at), value: Buffer.from('v0+null') }
    expectFound(bench, 'prefixFunction', 'unexplained')
  })
})
