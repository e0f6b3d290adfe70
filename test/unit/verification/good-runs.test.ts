import { expect } from 'chai'
import type { BenchEntry } from './bench-log.ts'
import { RunBench, foundIn, reportOf } from './run-bench.ts'
import { copy, counts, countsByValue, feed, joined, manyOrNone, punctuated, suppressed, windows } from './topologies.ts'

describe('the checker', () => {
  describe('finds good runs consistent', () => {
    for (const [name, define] of Object.entries({
      copy,
      counts,
      countsByValue,
      joined,
      windows,
      suppressed,
      manyOrNone,
      punctuated,
    })) {
      it(`with provenance: ${name}`, () => {
        const bench = new RunBench(define)
        feed(bench, 40)
        if (name === 'joined') feed(bench, 12, 'table')

        const verdict = bench.run().judge()

        expect(foundIn(verdict)).to.deep.equal([])
        expect(verdict.verdict, JSON.stringify(verdict.checks)).to.equal('consistent')
        for (const check of ['prefixFunction', 'tiling', 'atomicity', 'fencing', 'dirtyInput', 'anomalies'] as const) {
          expect(reportOf(verdict, check).state, check).to.equal('passed')
        }
        expect(verdict.isComplete, JSON.stringify(verdict.checks)).to.equal(true)
        expect(verdict.summary.abortedRecords).to.be.greaterThan(0)
      })
    }

    for (const hasProvenance of [true, false]) {
      it(`whose output is stamped by the broker, ${hasProvenance ? 'with' : 'without'} provenance`, () => {
        const bench = new RunBench(counts, { hasProvenance })
        feed(bench, 40)
        bench.run()
        for (const partition of [0, 1]) bench.log('out', partition).appendTime = 4_711

        expect(bench.judge().verdict).to.equal('consistent')
      })
    }

    it('whose offsets were sent twice in one transaction, because the first answer was lost', () => {
      const bench = new RunBench(counts)
      feed(bench, 40)
      bench.run()
      bench.commits.splice(0, Infinity, ...bench.commits.flatMap(commit => [commit, commit]))

      const verdict = bench.judge()

      expect(foundIn(verdict)).to.deep.equal([])
      expect(verdict.verdict, JSON.stringify(verdict.checks)).to.equal('consistent')
    })

    it('whose results a cache holds back until commits', () => {
      const bench = new RunBench(counts, { properties: { 'statestore.cache.max.bytes': 100_000 } })
      feed(bench, 40)

      const verdict = bench.run().judge()

      expect(foundIn(verdict)).to.deep.equal([])
      expect(verdict.verdict, JSON.stringify(verdict.checks)).to.equal('consistent')
    })

    for (const [name, define] of Object.entries({ copy, counts, countsByValue })) {
      it(`without provenance, where each task has one input: ${name}`, () => {
        const bench = new RunBench(define, { hasProvenance: false })
        feed(bench, 40)

        const verdict = bench.run().judge()

        expect(foundIn(verdict)).to.deep.equal([])
        expect(verdict.verdict, JSON.stringify(verdict.checks)).to.equal('consistent')
        for (const check of ['tiling', 'atomicity', 'fencing', 'dirtyInput', 'anomalies'] as const)
          expect(reportOf(verdict, check).state, check).to.equal('notChecked')
        expect(verdict.isComplete).to.equal(false)
      })
    }
  })

  it('takes the keys of a suppress buffer in any order, those of one key in theirs: a restart makes the set small', () => {
    const options = { recordsPerTransaction: 12, aborts: false, hasProvenance: false }
    const bench = new RunBench(suppressed, options)
    feed(bench, 40)
    const { entries } = bench.run().log('app-held-store-changelog')

    swapRecords(entries, (one, other, distance) => one !== other && distance === 1)
    expect(foundIn(bench.judge())).to.deep.equal([])

    swapRecords(entries, (one, other) => one === other)
    expect(foundIn(bench.judge())).to.include('prefixFunction: order')
  })

  it('judges no run whose results depend on when commits were, where their log cannot be read', () => {
    const bench = new RunBench(suppressed)
    feed(bench, 40)
    bench.run().hasHistory = false

    expect(bench.judge().verdict).to.equal('unjudged')
  })
})

/** Swaps the first two records whose keys, and the distance between them, are as wanted. */
function swapRecords(entries: BenchEntry[], isWanted: (key: string, other: string, distance: number) => boolean): void {
  for (const [at, one] of entries.entries()) {
    const behind = entries.findIndex((other, place) => place > at && isWanted(keyOf(one), keyOf(other), place - at))
    const other = entries[behind]
    if (other === undefined || keyOf(one) === '' || keyOf(other) === '') continue
    entries[at] = other
    entries[behind] = one
    return
  }
  throw new Error('there are no two such records')
}

function keyOf(entry: BenchEntry): string {
  return entry.kind === 'record' ? (entry.key?.toString('hex') ?? '') : ''
}
