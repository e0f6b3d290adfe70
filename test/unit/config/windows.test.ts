import { expect } from 'chai'
import { json } from '../../../src/serdes/json.ts'
import { long } from '../../../src/serdes/numbers.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import type { AnySerde } from '../../../src/serdes/serde.ts'
import { string } from '../../../src/serdes/text.ts'
import { sessionWindowed, timeWindowed } from '../../../src/serdes/windowed.ts'
import type { TestDriver } from '../../../src/testing/test-driver.ts'
import { driverOf, HEAD, problemsOfYaml } from './yaml-application.ts'

const CLICKS = 'sources: { clicks: { topic: clicks, key: string, value: json } }\n'

function pipe(
  driver: TestDriver,
  records: readonly (readonly [key: string, value: unknown, timestamp: number])[],
): void {
  const input = driver.input('clicks', { key: string, value: json() })
  for (const [key, value, timestamp] of records) input.pipe(key, value as never, timestamp)
}

function seen(driver: TestDriver, key: AnySerde, value: AnySerde, topic = 'out'): readonly (readonly unknown[])[] {
  return driver
    .output(topic, { key, value: nullable(value as typeof long) })
    .readAll()
    .map(record => [plain(record.key), record.value])
}

function plain(key: unknown): unknown {
  return JSON.parse(JSON.stringify(key))
}

describe('windows of a YAML application', () => {
  it('counts per tumbling window and writes late records to their topic', async () => {
    using driver = await driverOf(`${CLICKS}steps:
  counts: { from: clicks, window: { tumbling: 1m, grace: 10s }, count: {}, emit: final, late: { topic: too-late } }
sinks: { out: { from: counts, topic: out } }
`)
    pipe(driver, [
      ['a', 1, 1_000],
      ['a', 2, 2_000],
      ['a', 3, 70_000],
      ['a', 4, 3_000],
    ])
    expect(seen(driver, timeWindowed(string, 60_000), long)).to.deep.equal([[{ key: 'a', start: 0, end: 60_000 }, 2]])
    expect(seen(driver, string, json(), 'too-late')).to.deep.equal([['a', 4]])
    expect(driver.dropped.get('late')).to.equal(1)
  })

  it('sums, takes the least and the greatest in hopping windows', async () => {
    using driver = await driverOf(`${CLICKS}steps:
  sums: { from: clicks, window: { hopping: 20ms, every: 10ms, grace: 0s }, sum: value }
sinks: { out: { from: sums, topic: out } }
`)
    pipe(driver, [
      ['a', 5, 12],
      ['a', 2, 15],
    ])
    expect(seen(driver, timeWindowed(string, 20), json())).to.deep.equal([
      [{ key: 'a', start: 0, end: 20 }, 5],
      [{ key: 'a', start: 10, end: 30 }, 5],
      [{ key: 'a', start: 0, end: 20 }, 7],
      [{ key: 'a', start: 10, end: 30 }, 7],
    ])
  })

  it('merges sessions that grow together by the expression given', async () => {
    using driver = await driverOf(`${CLICKS}steps:
  visits:
    from: clicks
    window: { session: 10ms, grace: 100ms }
    aggregate:
      init: { n: 0, pages: "" }
      update: { n: state.n + 1, pages: state.pages + value.page }
      merge: { n: left.n + right.n, pages: left.pages + right.pages }
sinks: { out: { from: visits, topic: out } }
`)
    pipe(driver, [
      ['a', { page: 'x' }, 0],
      ['a', { page: 'z' }, 16],
      ['a', { page: 'y' }, 8],
    ])
    const records = seen(driver, sessionWindowed(string), json())
    expect(records.at(-1)).to.deep.equal([
      { key: 'a', start: 0, end: 16 },
      { n: 3, pages: 'xzy' },
    ])
  })

  it('shows expressions the key inside and the window apart, and drops the window by map', async () => {
    using driver = await driverOf(`${CLICKS}steps:
  counts: { from: clicks, window: { sliding: 10ms, grace: 0s }, count: {} }
  many: { from: counts, filter: value > 1 && key == "a" }
  updates: { from: many, stream: { deletions: drop } }
  alerts: { from: updates, map: { key: key, value: { n: value, from: window.start, to: window.end } } }
sinks: { out: { from: alerts, topic: out } }
`)
    pipe(driver, [
      ['a', 1, 100],
      ['a', 1, 105],
    ])
    expect(seen(driver, string, json())).to.deep.equal([['a', { n: 2, from: 95, to: 105 }]])
  })

  it('holds results back until the window closes', async () => {
    using driver = await driverOf(`${CLICKS}steps:
  counts: { from: clicks, window: { tumbling: 10ms, grace: 0s }, count: {} }
  final: { from: counts, suppress: { until: windowCloses } }
sinks: { out: { from: final, topic: out } }
`)
    pipe(driver, [
      ['a', 1, 1],
      ['a', 1, 2],
      ['b', 1, 11],
    ])
    expect(seen(driver, timeWindowed(string, 10), long)).to.deep.equal([[{ key: 'a', start: 0, end: 10 }, 2]])
  })

  it('lets an id through once per key within the time', async () => {
    using driver = await driverOf(`${CLICKS}steps:
  unique: { from: clicks, dedupe: { id: value.id, within: 10ms }, store: seen }
sinks: { out: { from: unique, topic: out } }
`)
    pipe(driver, [
      ['a', { id: 'x' }, 1],
      ['a', { id: 'x' }, 5],
      ['b', { id: 'x' }, 6],
      ['a', { id: 'x' }, 12],
    ])
    expect(seen(driver, string, json()).map(([key]) => key)).to.deep.equal(['a', 'b', 'a'])
    expect(driver.dropped.get('duplicate')).to.equal(1)
  })

  it('feeds one state from several sources', async () => {
    using driver = await driverOf(`sources:
  clicks: { topic: clicks, key: string, value: json }
  views: { topic: views, key: string, value: json }
steps:
  baskets:
    from: [clicks, views]
    aggregate:
      init: { clicks: 0, views: 0 }
      update:
        clicks: { clicks: state.clicks + 1, views: state.views }
        views: { clicks: state.clicks, views: state.views + value }
sinks: { out: { from: baskets, topic: out } }
`)
    pipe(driver, [['a', 1, 1]])
    driver.input('views', { key: string, value: json() }).pipe('a', 5, 2)
    expect(seen(driver, string, json()).at(-1)).to.deep.equal(['a', { clicks: 1, views: 5 }])
  })

  it('keep their results over an abort and a restart', async () => {
    const steps = `${CLICKS}steps:
  counts: { from: clicks, window: { tumbling: 10ms, grace: 5ms }, count: {}, emit: final }
  held: { from: counts, suppress: { until: 3ms } }
sinks: { out: { from: held, topic: out } }
`
    const records = [1, 4, 12, 3, 17, 25, 14, 36, 50].map(
      (time, at) => [at % 2 === 0 ? 'a' : 'b', at, time] as [string, number, number],
    )
    using plainRun = await driverOf(steps)
    pipe(plainRun, records)
    using disturbed = await driverOf(steps, { commit: 'explicit' })
    for (const [at, record] of records.entries()) {
      pipe(disturbed, [record])
      if (at % 3 === 0) disturbed.commit()
      if (at % 4 === 1) disturbed.abort()
      if (at % 4 === 3) disturbed.restart()
    }
    const key = timeWindowed(string, 10)
    expect(seen(disturbed, key, long)).to.deep.equal(seen(plainRun, key, long))
  })
})

describe('mistakes in windows', () => {
  it('are told with their place and cure', async () => {
    const problems = await problemsOfYaml(`${HEAD}${CLICKS}steps:
  a: { from: clicks, window: { tumbling: 1m }, count: {} }
  b: { from: clicks, window: { hopping: 1m, every: 2m, grace: 0s }, count: {} }
  c: { from: clicks, window: { session: 1m, grace: 0s }, aggregate: { init: 0, update: state + 1 } }
  d: { from: clicks, emit: final, count: {} }
  e: { from: clicks, window: { tumbling: 1m, grace: 1m }, count: {}, store: { retention: 1m } }
  f: { from: clicks, suppress: { until: windowCloses } }
  g: { from: clicks, window: { tumbling: 1m, sliding: 1m, grace: 0s }, count: {} }
sinks: { out: { from: b, topic: out, key: string } }
`)
    const told = problems.join('\n')
    expect(told).to.include('lacks "grace"')
    expect(told).to.include('"every" of "window" of step "b" is at most the size of a window')
    expect(told).to.include('step "c" aggregates sessions and lacks "merge"')
    expect(told).to.include('"emit" of step "d" needs a window')
    expect(told).to.include('need at least 120000 ms')
    expect(told).to.include('step "f" (suppress) works on tables')
    expect(told).to.include('and not both tumbling and sliding')
    expect(told).to.include('sink "out" writes keys of windows with a serde of plain keys')
  })
})
