import { expect } from 'chai'
import fc from 'fast-check'
import { nullable } from '../../src/serdes/nullable.ts'
import { string } from '../../src/serdes/text.ts'
import { TestDriver } from '../../src/testing/test-driver.ts'
import { streams } from '../../src/topology/streams.ts'
import type { Topology } from '../../src/topology/topology.ts'

const text = { key: string, value: string }
const nulls = { key: string, value: nullable(string) }

interface Event {
  readonly topic: 'l' | 'r'
  readonly key: string
  readonly value: string | null
  readonly timestamp: number
}

/** What happens after an event, which is then processed again. */
type Interruption = 'none' | 'abort' | 'restart'

const pair = (l: string | null, r: string | null): string => `${String(l)}/${String(r)}`

const TOPOLOGIES: Readonly<Record<string, Topology>> = {
  'an outer join of streams': streams(b => {
    b.stream('l', nulls)
      .outerJoin(b.stream('r', nulls), pair, { within: { before: 10, after: 30 }, grace: 15 })
      .to('out', { value: string })
  }),
  'a left join of re-keyed streams, counted': streams(b => {
    b.stream('l', nulls)
      .selectKey((v, k) => (v === null ? k : `k${String(v.length % 2)}`))
      .leftJoin(b.stream('r', nulls), pair, { within: 20, grace: 0, key: string })
      .groupByKey({ value: string })
      .count()
      .toStream()
      .mapValues(n => String(n))
      .to('out', { value: string })
  }),
  'an outer join of tables, grouped': streams(b => {
    b.table('l', text)
      .outerJoin(b.table('r', text), pair)
      .groupBy((v, k) => [`g${String(v.length % 2)}`, k], text)
      .aggregate(
        () => '',
        (a, v) => `${a}+${v}`,
        (a, v) => `${a}-${v}`,
        { value: string },
      )
      .toStream()
      .to('out')
  }),
  'a left join by foreign keys': streams(b => {
    b.table('l', text)
      .foreignKeyLeftJoin(b.table('r', text), v => (v === 'x' ? null : v.slice(0, 1)), pair, { value: string })
      .toStream()
      .to('out')
  }),
  'a stream that waits for a versioned table': streams(b => {
    const table = b.table('r', { ...text, store: 't', versioned: { historyRetention: 100 } })
    b.stream('l', nulls).leftJoin(table, pair, { grace: 25 }).to('out', { value: string })
  }),
}

const events = fc.array(
  fc.tuple(
    fc.record({
      topic: fc.constantFrom('l', 'r'),
      key: fc.constantFrom('a', 'b'),
      value: fc.option(fc.constantFrom('a', 'bb', 'x', 'a1'), { nil: null, freq: 5 }),
      timestamp: fc.nat(200),
    } satisfies { [N in keyof Event]: fc.Arbitrary<Event[N]> }),
    fc.constantFrom<Interruption[]>('none', 'none', 'abort', 'restart'),
  ),
  { maxLength: 40 },
)

function run(topology: Topology, list: readonly (readonly [Event, Interruption])[], interrupted: boolean): unknown {
  using driver = new TestDriver(topology, { commit: 'explicit' })
  for (const [{ topic, key, value, timestamp }, interruption] of list) {
    // One record is processed again: of several from two topics the order is not that of their arrival.
    if (interruption !== 'none') driver.commit()
    driver.input(topic, nulls).pipe(key, value, timestamp)
    if (interrupted && interruption !== 'none') driver[interruption]()
  }
  driver.commit()
  const found: unknown[] = []
  const output = driver.output('out', nulls)
  for (let record = output.read(); record !== undefined; record = output.read())
    found.push([record.key, record.value, record.timestamp])
  return found
}

describe('joins under random events', () => {
  for (const [name, topology] of Object.entries(TOPOLOGIES)) {
    it(`give the same results over aborts and restarts: ${name} (I13)`, function () {
      this.timeout(60_000)
      fc.assert(
        fc.property(events, list => {
          expect(run(topology, list, true)).to.deep.equal(run(topology, list, false))
        }),
      )
    })
  }
})
