import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { string } from '../../../src/serdes/text.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import type { KTable } from '../../../src/topology/dsl.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { driverOf, HEAD, problemsOfYaml } from '../config/yaml-application.ts'

const text = { key: string, value: string }
const open = { key: string, value: nullable(string) }
const versioned = { historyRetention: 100 } as const

type Input = readonly [value: string | null, timestamp: number]

/** What the first key comes to in `out`, one record after the other: values with their times. */
function outOf(
  define: (b: StreamsBuilder) => void,
  inputs: readonly Input[],
): { readonly out: (readonly [unknown, number])[]; readonly driver: TestDriver } {
  const driver = new TestDriver(streams(define))
  for (const [value, timestamp] of inputs) driver.input('in', open).pipe('k', value, timestamp)
  const out = driver.output('out', open).readAll()
  return { driver, out: out.map(record => [record.value, record.timestamp]) }
}

/** A table of counts that keeps versions. */
function counts(b: StreamsBuilder): KTable<string, number> {
  return b.stream('in', text).groupByKey().count({ store: 'counts', versioned })
}

function isOdd(n: number): boolean {
  return n % 2 === 1
}

/** A step on a stream, in YAML. */
function stepOf(written: string): string {
  return `sources: { in: { topic: in, key: string, value: json } }
steps: { x: { from: in, ${written} } }
sinks: { out: { from: x, topic: out } }
`
}

/** Sums texts; `-` deletes the sum. */
const sum = (state: string, value: string): string | null => (value === '-' ? null : state + value)

describe('results in stores with versions', () => {
  it('of toTable tell every version that is kept, and readers of the present only the latest', () => {
    const define = (b: StreamsBuilder): void => {
      const table = b.stream('in', open).toTable({ value: string, store: 'kept', versioned })
      table.toStream().to('out', { value: nullable(string) })
      table
        .join(b.table('other', { ...text, store: 'other' }), (l, r) => `${l}/${r}`)
        .toStream()
        .to('joined', { value: string })
    }
    using driver = new TestDriver(streams(define))
    driver.input('other', text).pipe('k', 'o', 0)
    for (const [value, timestamp] of [
      ['a', 100],
      ['b', 300],
      ['late', 250],
      ['too late', 150],
    ] as const)
      driver.input('in', text).pipe('k', value, timestamp)
    expect(driver.output('out', text).readKeyValues()).to.deep.equal([
      ['k', 'a'],
      ['k', 'b'],
      ['k', 'late'],
    ])
    expect(driver.output('joined', text).readKeyValues()).to.deep.equal([
      ['k', 'a/o'],
      ['k', 'b/o'],
    ])
    expect(driver.dropped.get('outOfOrderVersion'), 'one by the join, one by the table').to.equal(2)
    const store = driver.versionedKeyValueStore('kept', text)
    expect(store.get('k')).to.deep.equal({ value: 'b', timestamp: 300, validTo: undefined })
    expect(store.get('k', 260)).to.deep.equal({ value: 'late', timestamp: 250, validTo: 300 })
  })

  it('of one table inside the other leave it to each which of its versions is the latest', () => {
    const define = (b: StreamsBuilder): void => {
      const table = b.stream('in', text).toTable({ store: 'outer', versioned })
      table.toStream().mapValues(String).toTable({ value: string, store: 'inner', versioned })
      table
        .join(b.table('other', { ...text, store: 'other' }), (l, r) => `${l}/${r}`)
        .toStream()
        .to('joined', { value: string })
    }
    using driver = new TestDriver(streams(define))
    driver.input('other', text).pipe('k', 'o', 0)
    for (const [value, timestamp] of [
      ['b', 300],
      ['late', 250],
    ] as const)
      driver.input('in', text).pipe('k', value, timestamp)
    expect(driver.output('joined', text).readKeyValues()).to.deep.equal([['k', 'b/o']])
  })

  it('are told by a filter that keeps what it makes of them, news or not', () => {
    const { driver, out } = outOf(
      b => {
        b.table('in', { ...text, store: 'versions', versioned: { historyRetention: 1000 } })
          .filter(value => value.startsWith('y'), { store: 'filtered', value: string })
          .toStream()
          .to('out', { value: nullable(string) })
      },
      [
        ['n', 100],
        ['y', 200],
        ['late n', 150],
        ['n', 300],
      ],
    )
    using _ = driver
    // As the JVM's test driver gives them.
    expect(out).to.deep.equal([
      [null, 100],
      ['y', 200],
      [null, 150],
      [null, 300],
    ])
  })

  it('of an aggregation hold from the later of both times, and one too far behind all others goes nowhere', () => {
    const define = (b: StreamsBuilder): void => {
      b.stream('in', open)
        .groupByKey()
        .aggregate(() => '', sum, { value: string, store: 'sums', versioned })
        .toStream()
        .to('out', { value: nullable(string) })
    }
    const { driver, out } = outOf(define, [
      ['a', 200],
      ['b', 150],
      ['c', 400],
    ])
    using _ = driver
    expect(out).to.deep.equal([
      ['a', 200],
      ['ab', 200],
      ['abc', 400],
    ])
    driver.input('in', text).pipe('other', 'x', 250)
    expect(driver.output('out', open).isEmpty, 'more than the history behind').to.equal(true)
    expect(driver.dropped.get('outOfOrderVersion')).to.equal(1)
    expect(driver.versionedKeyValueStore('sums', text).get('other')).to.equal(undefined)
    expect(driver.versionedKeyValueStore('sums', text).get('k', 399)).to.deep.equal({
      value: 'ab',
      timestamp: 200,
      validTo: 400,
    })
  })

  it('of an aggregation begin before a deletion that is later, and are no news to a join then', () => {
    const define = (b: StreamsBuilder): void => {
      const table = b
        .stream('in', open)
        .groupByKey()
        .aggregate(() => '', sum, { value: string, store: 'sums', versioned })
      table.toStream().to('out', { value: nullable(string) })
      table
        .leftJoin(b.table('other', { ...text, store: 'other' }), l => l)
        .toStream()
        .to('joined', { value: nullable(string) })
    }
    const { driver, out } = outOf(define, [
      ['a', 200],
      ['-', 190],
      ['b', 195],
    ])
    using _ = driver
    expect(out).to.deep.equal([
      ['a', 200],
      [null, 200],
      ['b', 195],
    ])
    expect(driver.output('joined', open).readKeyValues()).to.deep.equal([
      ['k', 'a'],
      ['k', null],
    ])
  })

  it('of a table that is grouped, of a reduce and of a count work alike, and come back after a restart', () => {
    const define = (b: StreamsBuilder): void => {
      const grouped = b.stream('in', open).groupByKey()
      grouped.reduce((a, v) => a + v, { value: string, store: 'reduced', versioned })
      grouped.count({ store: 'counted', versioned })
      grouped
        .cogroup<string>((v, state) => state + v)
        .aggregate(() => '', { value: string, store: 'cogrouped', versioned })
      b.table('t', { ...text, store: 't' })
        .groupBy(v => ['g', v], text)
        .count({ store: 'groups', versioned })
    }
    using driver = new TestDriver(streams(define))
    driver.input('in', text).pipe('k', 'a', 100)
    driver.input('in', text).pipe('k', 'b', 150)
    driver.input('t', text).pipe('x', '1', 100)
    driver.input('t', text).pipe('y', '2', 120)
    for (const life of ['first', 'second']) {
      expect(driver.versionedKeyValueStore('reduced', text).get('k')?.value, life).to.equal('ab')
      expect(
        driver.versionedKeyValueStore('counted', { key: string, value: long }).get('k', 120)?.value,
        life,
      ).to.equal(1)
      expect(driver.versionedKeyValueStore('cogrouped', text).get('k', 149)?.validTo, life).to.equal(150)
      expect(driver.versionedKeyValueStore('groups', { key: string, value: long }).get('g')?.value, life).to.equal(2)
      driver.restart()
    }
  })

  it('can be waited for by a join with grace, and not be held back by a suppress', () => {
    expect(() =>
      streams(b =>
        b
          .stream('s', text)
          .join(counts(b), v => v, { grace: '1s', name: 'j' })
          .to('out', text),
      ),
    ).not.to.throw()
    expect(() => streams(b => counts(b).suppress({ until: '5s', name: 'held' }).toStream().to('out'))).to.throw(
      MillraceError,
      /versions/,
    )
  })

  it('stay versions behind a filter that keeps nothing, and end in one with a store', () => {
    const suppress = { until: '5s', name: 'held' } as const
    expect(() => streams(b => counts(b).filter(isOdd).suppress(suppress).toStream().to('out'))).to.throw(/versions/)
    expect(() =>
      streams(b => counts(b).filter(isOdd, { store: 'odd' }).suppress(suppress).toStream().to('out')),
    ).not.to.throw()
  })

  it('are written in YAML as `versioned`, where a table is made', async () => {
    using driver = await driverOf(stepOf('versioned: 100ms, count: {}'))
    driver.input('in', text).pipe('k', '1', 200)
    driver.input('in', text).pipe('k', '1', 300)
    expect(driver.versionedKeyValueStore('x', { key: string, value: long }).get('k', 250)?.value).to.equal(1)
    for (const wrong of [
      'versioned: 1s, filter: "true"',
      'versioned: 1s, window: { tumbling: 1s, grace: 0s }, count: {}',
    ])
      expect((await problemsOfYaml(`${HEAD}${stepOf(wrong)}`)).join()).to.contain('keeps no versions')
  })
})
