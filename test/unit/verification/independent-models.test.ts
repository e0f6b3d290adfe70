import { expect } from 'chai'
import fc from 'fast-check'
import { partitionForKey } from '../../../src/model/murmur2.ts'
import { findCycle } from '../../../src/verification/checks/anomalies.ts'
import { checkJoins } from '../../../src/verification/checks/joins.ts'
import { checkTotals } from '../../../src/verification/checks/totals.ts'
import { historyLine, readHistory, type HistoryEvent } from '../../../src/verification/history.ts'
import { javaPartition } from '../../../src/verification/java-partition.ts'
import type { StreamTableJoin, WindowJoin } from '../../../src/verification/join-observation.ts'
import { offsetsPartitionOf } from '../../../src/verification/offset-history.ts'
import type { RunObservation } from '../../../src/verification/run-observation.ts'
import type { Total } from '../../../src/verification/totals-observation.ts'
import { shuffleFault } from '../../../src/verification/sequence-difference.ts'
import { CheckBook, type CheckReport } from '../../../src/verification/verdict.ts'
import { RunBench } from './run-bench.ts'
import { copy } from './topologies.ts'

const bare = (): RunObservation => new RunBench(copy).observe()

function kindsOf({ findings }: CheckReport): readonly string[] {
  return findings.map(({ kind }) => kind)
}

describe('the plain model of totals', () => {
  const additions = [
    { id: 11n, amount: 5n },
    { id: 23n, amount: 7n },
    { id: 31n, amount: 9n },
  ]
  const good: readonly Total[] = [
    { count: 1n, sum: 7n, xor: 23n },
    { count: 2n, sum: 12n, xor: 23n ^ 11n },
    { count: 3n, sum: 21n, xor: 23n ^ 11n ^ 31n },
  ]
  const judge = (totals: readonly Total[], key = 'a', isAtRest = true): CheckReport =>
    checkTotals({ ...bare(), totals: { expected: new Map([['a', additions]]), found: [{ key, totals }] } }, isAtRest)

  it('accepts each record once, in any order', () => {
    expect(judge(good).state).to.equal('passed')
  })

  it('finds a lost record, even the last', () => {
    expect(kindsOf(judge(good.slice(0, 2)))).to.deep.equal(['lost'])
  })

  it('does not judge what is missing while records wait, and finds all the same what waiting cannot mend', () => {
    const waiting = judge(good.slice(0, 2), 'a', false)
    expect([waiting.state, waiting.reasons.join()]).to.deep.equal([
      'unjudged',
      '1 record not added yet, and the run has not come to rest',
    ])
    const twice = [...good.slice(0, 2), { count: 3n, sum: 12n + 5n, xor: 23n }]
    expect(kindsOf(judge(twice, 'a', false))).to.deep.equal(['duplicate'])
    expect(kindsOf(judge([{ count: 1n, sum: 6n, xor: 23n }], 'a', false))).to.deep.equal(['wrong'])
  })

  it('finds a record that was added twice while another is missing', () => {
    const twice = [...good.slice(0, 2), { count: 3n, sum: 12n + 5n, xor: 23n }]
    expect(kindsOf(judge(twice))).to.deep.equal(['duplicate', 'lost'])
  })

  it('finds a lost and a doubled amount that cancel out in the sum', () => {
    expect(kindsOf(judge([{ count: 1n, sum: 14n, xor: 0n }]))).to.include('wrong')
  })

  it('finds a total that was written a second time', () => {
    expect(kindsOf(judge([...good.slice(0, 1), ...good]))).to.include('count')
  })

  it('finds a key that nothing was added for', () => {
    expect(kindsOf(judge(good, 'b'))).to.include('unexplained')
  })
})

describe('the plain model of joins', () => {
  const join: StreamTableJoin = {
    kind: 'streamTable',
    stream: [
      { id: 's1', key: 'k' },
      { id: 's2', key: 'k' },
      { id: 's3', key: 'l' },
    ],
    table: [
      { key: 'k', partition: 0, offset: 0, isDeletion: false },
      { key: 'k', partition: 0, offset: 3, isDeletion: false },
      { key: 'k', partition: 0, offset: 5, isDeletion: true },
    ],
    results: [
      { id: 's1', partition: 0, tablePosition: 2, version: 0 },
      { id: 's2', partition: 0, tablePosition: 4, version: 3 },
      { id: 's3', partition: 0, tablePosition: 6, version: undefined },
    ],
  }
  const judge = (changes: Partial<StreamTableJoin>, isAtRest = true): CheckReport =>
    checkJoins({ ...bare(), joins: [{ ...join, ...changes }] }, isAtRest)

  it('accepts results with the newest version that had been read, and declared misses', () => {
    expect(judge({}).state).to.equal('passed')
  })

  it('finds a version that had been superseded, and one that had not been read', () => {
    const [first, second, third] = join.results
    if (first === undefined || second === undefined || third === undefined) throw new Error('three results')
    expect(kindsOf(judge({ results: [first, { ...second, version: 0 }, third] }))).to.deep.equal(['wrong version'])
    expect(kindsOf(judge({ results: [{ ...first, version: 3 }, second, third] }))).to.deep.equal(['wrong version'])
    expect(kindsOf(judge({ results: [first, { ...second, tablePosition: 1, version: 0 }, third] }))).to.deep.equal([
      'goes back',
    ])
  })

  it('finds results that are missing, double, or of nothing', () => {
    expect(kindsOf(judge({ results: join.results.slice(1) }))).to.deep.equal(['lost'])
    expect(kindsOf(judge({ results: [...join.results, ...join.results.slice(2)] }))).to.deep.equal(['duplicate'])
    expect(kindsOf(judge({ stream: join.stream.slice(0, 2) }))).to.deep.equal(['unexplained'])
  })

  const window: WindowJoin = {
    kind: 'window',
    left: [
      { id: 'l1', key: 'k', timestamp: 100 },
      { id: 'l2', key: 'k', timestamp: 500 },
    ],
    right: [
      { id: 'r1', key: 'k', timestamp: 90 },
      { id: 'r2', key: 'k', timestamp: 150 },
      { id: 'r3', key: 'other', timestamp: 100 },
    ],
    beforeMs: 10,
    afterMs: 50,
    pairs: [
      ['l1', 'r1'],
      ['l1', 'r2'],
    ],
    late: [],
  }
  const judgeWindow = (changes: Partial<WindowJoin>, isAtRest = true): readonly string[] =>
    kindsOf(checkJoins({ ...bare(), joins: [{ ...window, ...changes }] }, isAtRest))

  it('accepts all pairs within the window, its bounds included, each once', () => {
    expect(judgeWindow({})).to.deep.equal([])
  })

  it('finds pairs that are missing, double, or in no window', () => {
    expect(judgeWindow({ pairs: window.pairs.slice(1) })).to.deep.equal(['lost'])
    expect(judgeWindow({ pairs: [...window.pairs, ['l1', 'r1']] })).to.deep.equal(['duplicate'])
    expect(judgeWindow({ pairs: [...window.pairs, ['l2', 'r2']] })).to.deep.equal(['unexplained'])
    expect(judgeWindow({ pairs: window.pairs.slice(1), late: ['r1'] })).to.deep.equal([])
  })

  it('do not judge what is missing while records wait, and find all the same what waiting cannot mend', () => {
    expect(judge({ results: join.results.slice(1) }, false).state).to.equal('unjudged')
    expect(kindsOf(judge({ results: [...join.results, ...join.results.slice(2)] }, false))).to.deep.equal(['duplicate'])
    expect(judgeWindow({ pairs: window.pairs.slice(1) }, false)).to.deep.equal([])
    expect(judgeWindow({ pairs: [...window.pairs, ['l2', 'r2']] }, false)).to.deep.equal(['unexplained'])
  })
})

describe('the second partitioner', () => {
  it('agrees with the first, and with vectors of the Java client', () => {
    expect(javaPartition(Buffer.from('a-little-bit-long-string'), 2 ** 31)).to.equal(-985_981_536 & 0x7fff_ffff)
    expect(javaPartition(Buffer.from('foobar'), 2 ** 31)).to.equal(-790_332_482 & 0x7fff_ffff)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 500 }), (key, partitions) => {
        expect(javaPartition(key, partitions)).to.equal(partitionForKey(key, partitions))
      }),
    )
  })
})

describe('the partition of a group in the log of offsets', () => {
  it("is that of Java's hash of the name", () => {
    // "app".hashCode() = 96801, "millrace-demo".hashCode() is negative, "polygenelubricants".hashCode() = Integer.MIN_VALUE
    expect(offsetsPartitionOf('app', 50)).to.equal(1)
    expect(offsetsPartitionOf('polygenelubricants', 50)).to.equal(0)
    expect(offsetsPartitionOf('zzzzzz', 50)).to.equal(Math.abs(-685_785_664) % 50)
  })
})

function edges(pairs: readonly (readonly [number, number])[]): ReadonlyMap<number, ReadonlySet<number>> {
  const graph = new Map<number, Set<number>>()
  for (const [from, to] of pairs) graph.set(from, (graph.get(from) ?? new Set()).add(to))
  return graph
}

describe('circles of transactions', () => {
  it('are found in any graph, and never in one without', () => {
    const node = fc.nat({ max: 12 })
    fc.assert(
      fc.property(fc.array(fc.tuple(node, node), { maxLength: 40 }), pairs => {
        expect(findCycle(edges(pairs.filter(([from, to]) => from > to)))).to.equal(undefined)
        const cycle = findCycle(edges([...pairs, [3, 4], [4, 5], [5, 3]]))
        expect(cycle?.at(-1)).to.equal(cycle?.at(0))
        expect(cycle?.length).to.be.greaterThan(2)
      }),
    )
  })
})

describe('a history', () => {
  const events: readonly HistoryEvent[] = [
    { kind: 'read', atMs: 1, topic: 'out', partition: 0, offset: 3, key: '6b', value: null },
    { kind: 'committed', atMs: 2, topic: 'in', partition: 1, offset: 9 },
    { kind: 'happened', atMs: 3, name: 'kill' },
  ]
  const text = events.map(event => `${historyLine(event)}\n`).join('')

  it('is read back from its lines, without a last one that a kill has cut off', () => {
    expect(readHistory(text)).to.deep.equal(events)
    expect(readHistory(`${text}{"kind":"read","at`)).to.deep.equal(events)
  })

  it('is refused where another line is no event', () => {
    expect(() => readHistory(`{"kind":"read"}\n${text}`)).to.throw(/Line 1/)
    const read = { kind: 'read', atMs: 1, topic: 'out', partition: 0, offset: 3, key: null }
    // Without a value, or with one that is no bytes: it would be compared with nothing.
    for (const event of [read, { ...read, value: 'text' }, { ...read, value: 7 }])
      expect(() => readHistory(`${JSON.stringify(event)}\n`)).to.throw(/Line 1/)
  })
})

describe('a shuffle', () => {
  const deck = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })

  it('is one whatever the order in which its sequences were mixed', () => {
    fc.assert(
      fc.property(deck, deck, fc.infiniteStream(fc.boolean()), (left, right, choices) => {
        const [one, two] = [[...left], [...right]]
        const mixed: string[] = []
        while (one.length + two.length > 0) {
          const fromLeft = two.length === 0 || (one.length > 0 && choices.next().value === true)
          mixed.push((fromLeft ? one : two).shift() ?? '')
        }
        expect(shuffleFault(mixed, [left, right])).to.equal(undefined)
      }),
    )
  })

  it('names the first place that no sequence had next', () => {
    expect(
      shuffleFault(
        ['a', 'x', 'b', 'y'],
        [
          ['a', 'b'],
          ['x', 'y'],
        ],
      ),
    ).to.equal(undefined)
    expect(
      shuffleFault(
        ['a', 'y', 'b', 'x'],
        [
          ['a', 'b'],
          ['x', 'y'],
        ],
      ),
    ).to.equal(1)
  })
})

describe('a book of findings', () => {
  it('has not passed when nothing was compared, and keeps only the first findings', () => {
    const book = new CheckBook('tiling')
    expect(book.report().state).to.equal('notChecked')
    book.compared()
    expect(book.report().state).to.equal('passed')
    book.unjudged('something is missing')
    expect(book.report().state).to.equal('unjudged')
    for (let at = 0; at < 50; at++) book.found('gap', String(at))
    const { state, findings } = book.report()
    expect(state).to.equal('failed')
    expect(findings).to.have.length(21)
    expect(findings.at(-1)?.message).to.match(/30 more/)
  })
})
