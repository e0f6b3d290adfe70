import { expect } from 'chai'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import type { OffsetAndMetadata } from '../../../src/kafka/offset-and-metadata.ts'
import type { Total } from '../../../src/verification/totals-observation.ts'
import { plainRecord, type BenchLog } from './bench-log.ts'
import { foundIn, RunBench } from './run-bench.ts'
import { copy, counts, feed, numbers } from './topologies.ts'

function ran(define: ConstructorParameters<typeof RunBench>[0] = counts, hasProvenance = true): RunBench {
  const bench = new RunBench(define, { hasProvenance })
  feed(bench, 40)
  return bench.run()
}

/** Takes the last marker away: the transaction is open in this partition. */
function open(log: BenchLog): void {
  if (log.entries.at(-1)?.kind !== 'marker') throw new Error('the log does not end with a marker')
  log.entries.pop()
}

/** Takes a visible record away, leaving the offsets of the others. */
function lose(log: BenchLog, at: number): void {
  const visible = log.observed().records.filter(({ fate }) => fate === 'committed')
  const offset = visible.at(at)?.offset ?? -1
  log.entries[offset] = { kind: 'marker', marker: 'commit', producerId: 12_345, producerEpoch: 0 }
}

function expectUnjudged(bench: RunBench, reason: RegExp): void {
  const { verdict, checks } = bench.judge()
  expect(verdict, JSON.stringify(checks)).to.equal('unjudged')
  expect(checks.flatMap(({ reasons }) => reasons).join('\n')).to.match(reason)
}

function expectFound(bench: RunBench, finding: string): void {
  const judged = bench.judge()
  expect(judged.verdict).to.equal('violated')
  expect(foundIn(judged)).to.include(finding)
}

const addLag = (bench: RunBench): void => {
  bench.log('in').entries.push(plainRecord('k', 'late'))
  bench.unsettled.push('in-0 is committed up to 40 of 41 (lag)')
}

for (const hasProvenance of [true, false]) {
  describe(`a run that has not come to rest, ${hasProvenance ? 'with' : 'without'} provenance,`, () => {
    for (const topic of ['out', 'app-counts-changelog']) {
      it(`is not judged for what stands in an open transaction of ${topic}`, () => {
        const bench = ran(counts, hasProvenance)
        open(bench.log(topic))
        expectUnjudged(bench, /still open/)
      })
    }

    it('is not judged for a dead letter in an open transaction', () => {
      const policies = { deserialization: 'deadLetter', deadLetterTopic: 'dead' } as const
      const bench = new RunBench(numbers, { hasProvenance, policies, aborts: false })
      for (const value of ['1', 'no number']) bench.log('in').entries.push(plainRecord('k', value))
      bench.run()
      const log = [bench.log('dead'), bench.log('dead', 1)].find(({ entries }) => entries.length > 0)
      if (log === undefined) throw new Error('there is no dead letter')
      open(log)
      expectUnjudged(bench, /dead letter in dead is in a transaction that is still open/)
    })

    it('is violated by a lost record that the open transaction does not hold', () => {
      const bench = ran(counts, hasProvenance)
      open(bench.log('out'))
      lose(bench.log('out'), 3)
      expectFound(bench, 'prefixFunction: lost')
    })

    it('is violated by a lost result of what is committed, whatever waits behind it', () => {
      const bench = ran(counts, hasProvenance)
      addLag(bench)
      lose(bench.log('out'), -1)
      expectFound(bench, 'prefixFunction: lost')
    })

    it('is violated by a result that is there twice', () => {
      const bench = ran(copy, hasProvenance)
      addLag(bench)
      const { entries } = bench.log('out')
      const first = entries.find(entry => entry.kind === 'record')
      if (first !== undefined) entries.push({ ...first, producerId: -1 })
      expectFound(bench, 'prefixFunction: duplicate')
    })

    it('is violated by a wrong value', () => {
      const bench = ran(copy, hasProvenance)
      addLag(bench)
      const { entries } = bench.log('out')
      const at = entries.findIndex(entry => entry.kind === 'record')
      const entry = entries[at]
      if (entry?.kind === 'record') entries[at] = { ...entry, value: Buffer.from('another') }
      expectFound(bench, 'prefixFunction: unexplained')
    })
  })
}

function total(count: bigint, sum: bigint, xor: bigint): Total {
  return { count, sum, xor }
}

describe('a run with records that wait', () => {
  const expected = new Map([
    [
      'a',
      [
        { id: 1n, amount: 5n },
        { id: 2n, amount: 7n },
      ],
    ],
  ])

  it('is not judged for totals that are missing, and says how far behind it is', () => {
    const bench = ran()
    addLag(bench)
    bench.more = { totals: { expected, found: [{ key: 'a', totals: [total(1n, 5n, 1n)] }] } }
    expectUnjudged(bench, /in-0 has 1 records that are not processed yet \(lag\)/)
  })

  it('is violated by totals that no waiting mends', () => {
    const bench = ran()
    addLag(bench)
    bench.more = { totals: { expected, found: [{ key: 'a', totals: [total(1n, 5n, 1n), total(2n, 10n, 0n)] }] } }
    expectFound(bench, 'totals: duplicate')
  })

  it('is violated by totals that are missing once nothing waits', () => {
    const bench = ran()
    bench.more = { totals: { expected, found: [{ key: 'a', totals: [total(1n, 5n, 1n)] }] } }
    expectFound(bench, 'totals: lost')
  })

  it('is violated by a transaction of which another part was aborted', () => {
    const bench = ran()
    addLag(bench)
    const log = bench.log('app-counts-changelog')
    const at = log.entries.findIndex(entry => entry.kind === 'marker' && entry.marker === 'commit')
    const marker = log.entries[at]
    if (marker?.kind === 'marker') log.entries[at] = { ...marker, marker: 'abort' }
    expectFound(bench, 'atomicity: torn')
  })
})

/** The offsets as they were read first, before the last commits. */
function looked(): RunBench {
  const bench = ran()
  const earlier = new TopicPartitionMap<OffsetAndMetadata>()
  for (const [partition, held] of bench.committed)
    earlier.set(partition, { ...held, offset: Math.max(0, held.offset - 4) })
  bench.more = { committed: earlier, hasMoved: true }
  bench.unsettled.push('the application committed while it was looked at')
  return bench
}

describe('a run that went on while it was looked at', () => {
  it('is not judged for results of what was not committed yet', () => {
    expectUnjudged(looked(), /committed while it was looked at: what was found may come of that/)
  })

  it('would be violated by them if it had been at rest', () => {
    const bench = looked()
    bench.more = { ...bench.more, hasMoved: false }
    expectFound(bench, 'prefixFunction: unexplained')
  })

  it('is violated by a transaction of which a part was aborted', () => {
    const bench = looked()
    const log = bench.log('app-counts-changelog')
    const at = log.entries.findIndex(entry => entry.kind === 'marker' && entry.marker === 'commit')
    const marker = log.entries[at]
    if (marker?.kind === 'marker') log.entries[at] = { ...marker, marker: 'abort' }
    expectFound(bench, 'atomicity: torn')
  })
})
