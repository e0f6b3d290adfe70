import { expect } from 'chai'
import { nullable } from '../../../src/serdes/nullable.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { bytes, string } from '../../../src/serdes/text.ts'
import { sessionWindowed } from '../../../src/serdes/windowed.ts'
import { timestampedKeyValueStore } from '../../../src/stores/store-spec.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'

const TEXT = { key: string, value: string }
const NULLS = { key: nullable(string), value: nullable(string) }
const HEADERS = { 'dsl.store.format': 'headers' } as const

/** Pipes values of one key, each with a header that names it, and gives what a topic got: the value's length, and the header. */
function headersOf(
  define: (builder: StreamsBuilder) => void,
  topic: string,
  properties: Partial<StreamsProperties>,
  values: readonly (string | null)[],
): (readonly [number | undefined, string | undefined])[] {
  using driver = new TestDriver(streams(define), { streams: properties })
  const input = driver.input('in', NULLS)
  for (const [at, value] of values.entries()) {
    input.pipeRecord({ key: 'k', value, timestamp: at, headers: [['of', String(value)]] })
  }
  return driver
    .output(topic, { key: bytes, value: nullable(bytes) })
    .readAll()
    .map(({ value, headers }) => {
      const [, header] = [...headers][0] ?? []
      return [value?.length, header === undefined || header === null ? undefined : Buffer.from(header).toString()]
    })
}

/** An aggregate that `DEL` removes. */
function latest(builder: StreamsBuilder): void {
  builder
    .stream('in', TEXT)
    .groupByKey()
    .aggregate(
      () => '',
      (_, value) => (value === 'DEL' ? null : value),
      { store: 'latest', value: string },
    )
}

/** The same by hand. */
function latestByHand(builder: StreamsBuilder): void {
  builder.stream('in', TEXT).process({
    stores: { latest: timestampedKeyValueStore('latest', { key: string, value: long }) },
    init:
      ({ stores: { latest: store } }) =>
      ({ key, value, timestamp }) => {
        if (value === 'DEL') store.delete(key)
        else store.put(key, { value: 1, timestamp })
      },
  })
}

/** A table joined by its value. */
function joinedByValue(builder: StreamsBuilder): void {
  builder
    .table('in', TEXT)
    .foreignKeyJoin(
      builder.table('other', TEXT),
      value => value,
      (l, r) => l + r,
      { name: 'fk', value: string },
    )
    .toStream()
    .to('out')
}

describe('headers of changelog records', () => {
  it('are those of the record on removals alone, where the format of stores has headers', () => {
    expect(headersOf(latest, 'app-latest-changelog', HEADERS, ['a', 'DEL'])).to.deep.equal([
      [1, undefined],
      [undefined, 'DEL'],
    ])
  })

  it('are missing in the default format', () => {
    expect(headersOf(latest, 'app-latest-changelog', {}, ['a', 'DEL'])).to.deep.equal([
      [1, undefined],
      [undefined, undefined],
    ])
  })

  it('are missing in stores of processors, in any format', () => {
    expect(headersOf(latestByHand, 'app-latest-changelog', HEADERS, ['a', 'DEL'])).to.deep.equal([
      [8, undefined],
      [undefined, undefined],
    ])
  })

  it('are those of the latest write of a key when a cache held it back', () => {
    const cached = { ...HEADERS, 'statestore.cache.max.bytes': 1000 }
    using driver = new TestDriver(streams(latest), { streams: cached, commit: 'explicit' })
    const input = driver.input('in', TEXT)
    input.pipeRecord({ key: 'k', value: 'a', timestamp: 0, headers: [['of', 'a']] })
    driver.commit()
    input.pipeRecord({ key: 'k', value: 'DEL', timestamp: 1, headers: [['of', 'DEL']] })
    input.pipeRecord({ key: 'other', value: 'b', timestamp: 2, headers: [['of', 'b']] })
    driver.commit()
    const changelog = driver.output('app-latest-changelog', { key: string, value: nullable(string) }).readAll()
    expect(changelog.map(({ value, headers }) => [value, [...headers].length])).to.deep.equal([
      ['a', 0],
      [null, 1],
      ['b', 0],
    ])
  })

  it('are those of the record for subscriptions of a foreign-key join, in the default format too', () => {
    const logged = headersOf(joinedByValue, 'app-fk-subscription-store-changelog', {}, ['x', null])
    expect(logged.map(([length, header]) => [length === undefined, header])).to.deep.equal([
      [false, 'x'],
      [true, 'null'],
    ])
  })
})

/** Counts per session, with a gap of 10 ms. */
function sessionCounts(builder: StreamsBuilder): void {
  builder.stream('in', TEXT).groupByKey().windowedBy({ session: 10, grace: 0 }).count().toStream().to('out')
}

describe('results of sessions that a cache held back', () => {
  const options = { streams: { 'statestore.cache.max.bytes': 1000 }, commit: 'explicit' } as const

  it('have the headers of the latest record of their session', () => {
    using driver = new TestDriver(streams(sessionCounts), options)
    const input = driver.input('in', TEXT)
    input.pipeRecord({ key: 'k', value: 'a', timestamp: 0, headers: [['of', 'a']] })
    input.pipeRecord({ key: 'k', value: 'b', timestamp: 0, headers: [['of', 'b']] })
    driver.commit()
    const results = driver.output('out', { key: sessionWindowed(string), value: long }).readAll()
    expect(
      results.map(({ value, headers }) => [value, Buffer.from([...headers][0]?.[1] ?? []).toString()]),
    ).to.deep.equal([[2, 'b']])
  })

  it('delete a session that was told of, however late one is that came and went meanwhile', () => {
    using driver = new TestDriver(streams(sessionCounts), options)
    const input = driver.input('in', TEXT)
    input.pipe('told', '', 0)
    driver.commit()
    const out = driver.output('out', { key: sessionWindowed(string), value: nullable(long) })
    out.readAll()
    input.pipe('gone', '', 10)
    input.pipe('gone', '', 12)
    input.pipe('told', '', 5)
    input.pipe('gone', '', 12)
    driver.commit()
    expect(out.readKeyValues()).to.deep.equal([
      [{ key: 'told', start: 0, end: 0 }, null],
      [{ key: 'told', start: 0, end: 5 }, 2],
      [{ key: 'gone', start: 10, end: 12 }, 3],
    ])
  })
})
