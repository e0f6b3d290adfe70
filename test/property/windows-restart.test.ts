import { expect } from 'chai'
import fc from 'fast-check'
import { nullable } from '../../src/serdes/nullable.ts'
import { bytes, string } from '../../src/serdes/text.ts'
import { TestDriver } from '../../src/testing/test-driver.ts'
import type { KStream } from '../../src/topology/dsl.ts'
import { streams } from '../../src/topology/streams.ts'
import type { Topology } from '../../src/topology/topology.ts'

type Input = KStream<string, string>

/** Topologies that remember something between records, each in its own way. */
const TOPOLOGIES: Readonly<Record<string, (input: Input) => void>> = {
  'tumbling windows on close': input => {
    input
      .groupByKey()
      .windowedBy({ tumbling: 20, grace: 15 }, { emit: 'final', late: { topic: 'late' } })
      .aggregate(
        () => '',
        (a, v) => a + v,
        { store: 'w', value: string },
      )
      .toStream()
      .to('out')
  },
  'hopping windows, suppressed until they close': input => {
    input
      .groupByKey()
      .windowedBy({ hopping: 30, every: 10, grace: 10 })
      .aggregate(
        () => '',
        (a, v) => a + v,
        { store: 'w', value: string },
      )
      .suppress({ until: 'windowCloses', name: 'held' })
      .toStream()
      .to('out')
  },
  'sliding windows on close': input => {
    input
      .groupByKey()
      .windowedBy({ sliding: 15, grace: 20 }, { emit: 'final' })
      .aggregate(
        () => '',
        (a, v) => a + v,
        { store: 'w', value: string },
      )
      .toStream()
      .to('out')
  },
  'sessions, suppressed for a time': input => {
    input
      .groupByKey()
      .windowedBy({ session: 12, grace: 25 })
      .aggregate(
        () => '',
        (a, v) => a + v,
        (left, right) => left + right,
        { store: 's', value: string },
      )
      .suppress({ until: 20, maxRecords: 3, name: 'held' })
      .toStream()
      .to('out')
  },
  'a dedupe before a repartition and a count': input => {
    input
      .dedupe(v => v, { within: 30, store: 'seen' })
      .groupBy(v => v, { key: string, name: 'by-value' })
      .windowedBy({ tumbling: 25, grace: 30 })
      .count({ store: 'w' })
      .toStream()
      .to('out')
  },
}

const record = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  value: fc.constantFrom('x', 'y', 'z'),
  step: fc.integer({ min: -25, max: 30 }),
  after: fc.constantFrom('nothing', 'nothing', 'nothing', 'commit', 'abort', 'restart'),
})

describe('windows, suppress and dedupe', () => {
  for (const [name, define] of Object.entries(TOPOLOGIES)) {
    for (const cacheBytes of [0, 100_000]) {
      it(`give the same results over any aborts and restarts: ${name}${cacheBytes > 0 ? ', with a cache' : ''}`, () => {
        const topology = streams(builder => {
          define(builder.stream('in', { key: string, value: string }))
        })
        fc.assert(
          fc.property(fc.array(record, { minLength: 1, maxLength: 40 }), records => {
            const disturbed = run(topology, records, cacheBytes, true)
            expect(disturbed).to.deep.equal(run(topology, records, cacheBytes, false))
          }),
          { numRuns: 60 },
        )
      })
    }
  }
})

interface Piped {
  readonly key: string
  readonly value: string
  readonly step: number
  readonly after: string
}

/** All committed records of all topics but those between the tasks, as text. */
function run(
  topology: Topology,
  records: readonly Piped[],
  cacheBytes: number,
  isDisturbed: boolean,
): readonly string[] {
  using driver = new TestDriver(topology, {
    commit: 'explicit',
    streams: { 'statestore.cache.max.bytes': cacheBytes },
  })
  const input = driver.input('in', { key: string, value: string })
  let now = 100
  for (const { key, value, step, after } of records) {
    now = Math.max(0, now + step)
    input.pipe(key, value, now)
    if (after === 'commit') driver.commit()
    if (isDisturbed && after === 'abort') driver.abort()
    if (isDisturbed && after === 'restart') driver.restart()
  }
  driver.commit()
  return [...driver.producedTopics]
    .filter(topic => !topic.endsWith('-repartition'))
    .toSorted()
    .flatMap(topic => {
      const lines = driver
        .output(topic, { key: nullable(bytes), value: nullable(bytes) })
        .readAll()
        .map(sent => `${topic} ${hex(sent.key)} ${hex(sent.value)} ${String(sent.timestamp)}`)
      // A buffer's keys stand in the order of a Java hash set, which a new process makes anew: per key all is the same.
      return topic.endsWith('-held-store-changelog') ? lines.toSorted(byKey) : lines
    })
}

function byKey(a: string, b: string): number {
  const [left = '', right = ''] = [a.split(' ')[1], b.split(' ')[1]]
  return left === right ? 0 : left < right ? -1 : 1
}

function hex(side: Uint8Array | null): string {
  return side === null ? '-' : Buffer.from(side).toString('hex')
}
