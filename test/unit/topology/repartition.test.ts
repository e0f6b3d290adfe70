import { expect } from 'chai'
import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import type { KStream } from '../../../src/topology/dsl.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'

const TEXT = { key: string, value: string }
const NULLS = { key: nullable(string), value: nullable(string) }

const pair = (left: string | null, right: string | null): string => `${String(left)}/${String(right)}`

/** A stream with its values as keys; `-` gives none. */
function rekeyed(builder: StreamsBuilder): KStream<string | null, string | null> {
  return builder
    .stream('in', NULLS)
    .selectKey(value => (value === '-' ? null : value))
    .withSerdes(TEXT)
}

/** What a topology with a table `t` of `k=row` writes to topics for one value. */
function written(define: (builder: StreamsBuilder) => void, value: string, topics: readonly string[]): string[][] {
  using driver = new TestDriver(streams(define))
  driver.input('t', TEXT).pipe('k', 'row', 0)
  driver.input('in', NULLS).pipe(null, value, 1)
  return topics.map(topic =>
    driver
      .output(topic, NULLS)
      .readAll()
      .map(record => `${String(record.key)}=${String(record.value)}`),
  )
}

function sharedByTwo(b: StreamsBuilder): void {
  const stream = rekeyed(b)
  const table = b.table('t', TEXT)
  stream.join(table, pair).to('first', { value: string })
  stream.leftJoin(table, pair).to('second', { value: string })
}

function selfJoined(b: StreamsBuilder): void {
  const stream = rekeyed(b)
  b.table('t', TEXT)
  stream.join(stream, pair, { within: 10, grace: 0 }).to('out', { value: string })
}

function namedTwice(b: StreamsBuilder): void {
  const stream = rekeyed(b)
  const table = b.table('t', TEXT)
  stream.join(table, pair, { name: 'a' }).to('first', { value: string })
  stream.join(table, pair, { name: 'b' }).to('second', { value: string })
}

function innerOnly(b: StreamsBuilder): void {
  rekeyed(b).join(b.table('t', TEXT), pair, { name: 'j' }).to('out', { value: string })
}

function askedFor(b: StreamsBuilder): void {
  const stream = rekeyed(b).repartition({ name: 'asked' })
  stream.leftJoin(b.table('t', TEXT), pair).to('out', { value: string })
}

function behindAggregation(b: StreamsBuilder): void {
  rekeyed(b)
    .groupByKey()
    .reduce((_, value) => value, { store: 'latest' })
    .toStream()
    .leftJoin(b.table('t', TEXT), pair)
    .to('out', { value: string })
}

describe('the repartition topic of joins', () => {
  it('is shared by joins of one re-keyed stream that have no names', () => {
    const topics = ['app-KSTREAM-KEY-SELECT-0000000001-repartition', 'first', 'second']
    expect(written(sharedByTwo, 'k', topics)).to.deep.equal([['k=k'], ['k=k/row'], ['k=k/row']])
  })

  it('is one for both sides of a re-keyed stream that is joined with itself', () => {
    const topics = ['app-KSTREAM-KEY-SELECT-0000000001-repartition', 'out']
    expect(written(selfJoined, 'k', topics)).to.deep.equal([['k=k'], ['k=k/k']])
  })

  it('is one for each join that has a name', () => {
    const topics = ['app-a-repartition', 'app-b-repartition', 'first', 'second']
    expect(written(namedTwice, 'k', topics)).to.deep.equal([['k=k'], ['k=k'], ['k=k/row'], ['k=k/row']])
  })
})

describe('records without a key', () => {
  it('do not go through a repartition topic when nothing wants them', () => {
    expect(written(innerOnly, '-', ['app-j-repartition', 'out'])).to.deep.equal([[], []])
  })

  it('go through every topic before a left join, one that was asked for too', () => {
    expect(written(askedFor, '-', ['app-asked-repartition', 'out'])).to.deep.equal([['null=-'], ['null=-/null']])
  })

  it('go through the topic of an aggregation with a left join behind it, and no further', () => {
    expect(written(behindAggregation, '-', ['app-latest-repartition', 'out'])).to.deep.equal([['null=-'], []])
  })
})
