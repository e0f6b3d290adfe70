import { expect } from 'chai'
import { MillraceError } from '../../../src/model/errors.ts'
import { long } from '../../../src/serdes/numbers.ts'
import type { Serde } from '../../../src/serdes/serde.ts'
import { bytes, string } from '../../../src/serdes/text.ts'
import { sessionWindowed, timeWindowed } from '../../../src/serdes/windowed.ts'
import { TestDriver } from '../../../src/testing/test-driver.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { declareReads } from '../../../src/topology/reads.ts'
import { streams } from '../../../src/topology/streams.ts'

/** Tells whether a key was decoded and written anew: it is in capitals then. */
const loud: Serde<string> = {
  name: 'loud',
  serialize: text => Buffer.from(text.toUpperCase()),
  deserialize: view => view.toString(),
}

const windows = {
  tumbling: { windows: { tumbling: 10, grace: 0 }, key: timeWindowed(loud, 10), times: [1, 2] },
  hopping: { windows: { hopping: 10, every: 5, grace: 0 }, key: timeWindowed(loud, 10), times: [1, 7] },
  sliding: { windows: { sliding: 10, grace: 0 }, key: timeWindowed(loud, 10), times: [101, 105] },
} as const

/** Keys and values in `out`, in hexadecimal, of records with the key `k` at some times. */
function outOf(
  topology: ReturnType<typeof streams>,
  times: readonly number[],
  settings: Partial<StreamsProperties> = {},
) {
  using driver = new TestDriver(topology, { streams: settings })
  const input = driver.input('in', { key: bytes, value: bytes })
  for (const time of times) input.pipe(Buffer.from('k'), Buffer.from('v'), time)
  return driver
    .output('out', { key: bytes, value: bytes })
    .readAll()
    .map(({ key, value }) => `${keyText(key)} ${value === null ? 'null' : Buffer.from(value).toString('hex')}`)
}

function keyText(key: Uint8Array | null): string {
  if (key === null) return 'null'
  const tail = Buffer.from(key.subarray(1))
  const bounds = Array.from({ length: tail.length / 8 }, (_, at) => String(tail.readBigInt64BE(at * 8)))
  return `${Buffer.from(key.subarray(0, 1)).toString()} ${bounds.join('..')}`
}

describe('keys of windows', () => {
  for (const [kind, { windows: given, key, times }] of Object.entries(windows)) {
    const counted = (isRead: boolean) =>
      streams(b => {
        const counts = b.stream('in', { key: loud, value: bytes }).groupByKey().windowedBy(given).count({ store: 's' })
        const updates = counts.toStream()
        const shown = isRead ? updates.peek((_, windowed) => windowed.key) : updates
        shown.to('out', { key, value: long })
      })

    it(`go to a topic with the bytes the key was read with where nobody reads them (${kind})`, () => {
      const written = outOf(counted(false), times)
      expect(written).to.have.length.above(1)
      expect(written.every(line => line.startsWith('k '))).to.equal(true)
      // But for that, nothing is another than where a step reads them.
      expect(written).to.deep.equal(outOf(counted(true), times).map(line => line.replace('K', 'k')))
    })

    it(`are written as their serde does where a step reads them (${kind})`, () => {
      const written = outOf(counted(true), times)
      expect(written.every(line => line.startsWith('K '))).to.equal(true)
    })
  }

  it('of sessions that grow together are those of the ones before, too', () => {
    const topology = streams(b => {
      b.stream('in', { key: loud, value: bytes })
        .groupByKey()
        .windowedBy({ session: 5, grace: 0 })
        .count({ store: 's' })
        .toStream()
        .to('out', { key: sessionWindowed(loud), value: long })
    })
    expect(outOf(topology, [1, 4])).to.deep.equal(['k 1..1 0000000000000001', 'k 1..1 null', 'k 4..1 0000000000000002'])
  })

  it('leave a cache as their serde writes them: the source is at another record then', () => {
    const topology = streams(b => {
      b.stream('in', { key: loud, value: bytes })
        .groupByKey()
        .windowedBy({ tumbling: 10, grace: 0 })
        .count({ store: 's' })
        .toStream()
        .to('out', { key: timeWindowed(loud, 10), value: long })
    })
    expect(outOf(topology, [1], { 'statestore.cache.max.bytes': 1_000 })).to.deep.equal(['K 0 0000000000000001'])
  })

  it('of final results are those that have closed, not those of the record that closed them', () => {
    const topology = streams(b => {
      b.stream('in', { key: string, value: bytes })
        .groupByKey()
        .windowedBy({ tumbling: 10, grace: 0 }, { emit: 'final' })
        .count({ store: 's' })
        .toStream()
        .to('out')
    })
    using driver = new TestDriver(topology)
    const input = driver.input('in', { key: string, value: string })
    input.pipe('a', '', 1)
    input.pipe('b', '', 11)
    const out = driver.output('out', { key: timeWindowed(string, 10), value: long }).readKeyValues()
    expect(out).to.deep.equal([[{ key: 'a', start: 0, end: 10 }, 1]])
  })

  it('reach an aggregator decoded, and go on as they came', () => {
    const seen: string[] = []
    const topology = streams(b => {
      b.stream('in', { key: string, value: bytes })
        .groupByKey()
        .windowedBy({ tumbling: 10, grace: 0 })
        .aggregate(
          () => 0,
          (total, _, key) => {
            seen.push(key)
            return total + 1
          },
          { value: long, store: 's' },
        )
        .toStream()
        .to('out')
    })
    expect(outOf(topology, [1])).to.deep.equal(['k 0 0000000000000001'])
    expect(seen).to.deep.equal(['k'])
  })

  it('reach a reducer decoded, and a merger whose aggregator reads none', () => {
    const seen: unknown[] = []
    const note = <T>(value: T, key: unknown): T => {
      seen.push(key)
      return value
    }
    const reduced = streams(b => {
      b.stream('in', { key: string, value: string })
        .groupByKey()
        .windowedBy({ tumbling: 10, grace: 0 })
        .reduce((left, right, ...[key]: readonly unknown[]) => note(left + right, key), { store: 's' })
        .toStream()
        .to('out')
    })
    expect(outOf(reduced, [1, 2])).to.deep.equal(['k 0 76', 'k 0 7676'])
    expect(seen.splice(0)).to.deep.equal(['k'])

    const merged = streams(b => {
      b.stream('in', { key: string, value: string })
        .groupByKey()
        .windowedBy({ session: 5, grace: 0 })
        .aggregate(
          () => 0,
          declareReads((total: number) => total + 1, 'value'),
          (left, right, key) => note(left + right, key),
          { value: long, store: 's' },
        )
        .toStream()
        .to('out')
    })
    expect(outOf(merged, [1, 4])).to.have.length(3)
    expect(seen).to.deep.equal(['k'])
  })

  it('are those of windows of windows', () => {
    const topology = streams(b => {
      const tens = b.stream('in', { key: string, value: bytes }).groupByKey().windowedBy({ tumbling: 10, grace: 0 })
      tens
        .count({ store: 'tens' })
        .toStream()
        .groupByKey()
        .windowedBy({ tumbling: 100, grace: 0 })
        .count({ store: 'hundreds' })
        .toStream()
        .to('out')
    })
    expect(outOf(topology, [111, 112])).to.deep.equal(['k 110..100 0000000000000001', 'k 110..100 0000000000000002'])
  })

  it('are written by two steps in two ways, each as its serdes say', () => {
    const topology = streams(b => {
      const records = b.stream('in', { key: loud, value: bytes }).groupByKey()
      const counts = records.windowedBy({ tumbling: 10, grace: 0 }).count({ store: 's' }).toStream()
      counts.to('out', { key: timeWindowed(string, 10), value: long })
      counts.to('loud', { key: timeWindowed(loud, 10), value: long })
    })
    // One of the two needs the key decoded, so that both write what was decoded.
    expect(outOf(topology, [1])).to.deep.equal(['k 0 0000000000000001'])
    using driver = new TestDriver(topology)
    driver.input('in', { key: bytes, value: bytes }).pipe(Buffer.from('k'), Buffer.from('v'), 1)
    const [written] = driver.output('loud', { key: bytes, value: bytes }).readAll()
    expect(keyText(written?.key ?? null)).to.equal('K 0')
  })

  it('are refused where the key within cannot be read, though nobody reads it', () => {
    const topology = streams(b => {
      b.stream('in', { key: long, value: bytes })
        .groupByKey()
        .windowedBy({ tumbling: 10, grace: 0 })
        .count({ store: 's' })
        .toStream()
        .to('out')
    })
    using driver = new TestDriver(topology)
    const input = driver.input('in', { key: bytes, value: bytes })
    expect(() => {
      input.pipe(Buffer.from('k'), Buffer.from('v'), 1)
    })
      .to.throw(MillraceError)
      .with.property('code', 'DESERIALIZATION_FAILED')
  })
})
