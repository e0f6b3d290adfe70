import { keyValueStore, long, processor, streams, string, type KStream, type StreamsBuilder } from '../src/index.ts'

/** An operator to measure. Records go to `topics` in turn, each key to all of them. */
export interface Bench {
  readonly name: string
  /** Its cost may depend on the number of keys. */
  readonly keyed: boolean
  readonly topics: readonly string[]
  build(builder: StreamsBuilder): void
}

/** Event time between two records of a key, in ms: windows hold two or three records of it, however many keys there are. */
export const KEY_INTERVAL_MS = 5_000

const both = { key: string, value: long }
const ONE = ['left']
const TWO = ['left', 'right']

function left(builder: StreamsBuilder): KStream<string, number> {
  return builder.stream('left', both)
}

function right(builder: StreamsBuilder): KStream<string, number> {
  return builder.stream('right', both)
}

function stateless(name: string, build: (stream: KStream<string, number>) => void): Bench {
  return {
    name,
    keyed: false,
    topics: ONE,
    build: builder => {
      build(left(builder))
    },
  }
}

function keyed(name: string, topics: readonly string[], build: (builder: StreamsBuilder) => void): Bench {
  return { name, keyed: true, topics, build }
}

const total = (sum: number, value: number): number => sum + value
const start = (): number => 0
const WITHIN = { within: '2s', grace: 0 } as const

const remember = processor({
  name: 'remember',
  input: both,
  stores: { last: keyValueStore('last', both) },
  value: long,
  init: ({ stores: { last }, forward }) => {
    return ({ key, value }) => {
      const before = last.get(key) ?? 0
      last.put(key, value)
      forward({ key, value: value - before })
    }
  },
})

const STATELESS: readonly Bench[] = [
  stateless('to (pass through)', stream => {
    stream.to('out')
  }),
  stateless('filter', stream => {
    stream.filter(value => value >= 0).to('out')
  }),
  stateless('mapValues', stream => {
    stream.mapValues(value => value + 1).to('out', { value: long })
  }),
  stateless('map', stream => {
    stream.map((value, key) => [key, value + 1]).to('out', both)
  }),
  stateless('flatMapValues (2)', stream => {
    stream.flatMapValues(value => [value, value + 1]).to('out', { value: long })
  }),
  stateless('split (2)', stream => {
    const { even, odd } = stream.split({ even: value => value % 2 === 0, odd: 'default' })
    even.to('even')
    odd.to('odd')
  }),
  stateless('repartition', stream => {
    stream.repartition({ name: 'again' }).to('out')
  }),
]

const AGGREGATIONS: readonly Bench[] = [
  keyed('count', ONE, builder => {
    left(builder).groupByKey().count().toStream().to('out')
  }),
  keyed('reduce', ONE, builder => {
    left(builder).groupByKey().reduce(total).toStream().to('out')
  }),
  keyed('aggregate', ONE, builder => {
    left(builder).groupByKey().aggregate(start, total, { value: long }).toStream().to('out')
  }),
  keyed('cogroup (2)', TWO, builder => {
    left(builder)
      .groupByKey()
      .cogroup<number>(total)
      .cogroup(right(builder).groupByKey(), total)
      .aggregate(start, { value: long })
      .toStream()
      .to('out')
  }),
  keyed('tumbling count', ONE, builder => {
    left(builder).groupByKey().windowedBy({ tumbling: '10s', grace: 0 }).count().toStream().to('out')
  }),
  keyed('tumbling count, final', ONE, builder => {
    const windows = left(builder).groupByKey().windowedBy({ tumbling: '10s', grace: 0 }, { emit: 'final' })
    windows.count({ retention: '1m' }).toStream().to('out')
  }),
  keyed('hopping count (2)', ONE, builder => {
    left(builder).groupByKey().windowedBy({ hopping: '10s', every: '5s', grace: 0 }).count().toStream().to('out')
  }),
  keyed('sliding count', ONE, builder => {
    left(builder).groupByKey().windowedBy({ sliding: '10s', grace: 0 }).count().toStream().to('out')
  }),
  keyed('session count', ONE, builder => {
    left(builder).groupByKey().windowedBy({ session: '7s', grace: 0 }).count().toStream().to('out')
  }),
  keyed('dedupe', ONE, builder => {
    left(builder)
      .dedupe(value => String(value), { within: '10s' })
      .to('out')
  }),
  keyed('process (store)', ONE, builder => {
    left(builder).process(remember).to('out')
  }),
]

const TABLES: readonly Bench[] = [
  keyed('toTable', ONE, builder => {
    left(builder).toTable().toStream().to('out')
  }),
  keyed('table groupBy count', ONE, builder => {
    builder
      .table('left', both)
      .groupBy((value, key) => [key, value], both)
      .count()
      .toStream()
      .to('out')
  }),
  keyed('suppress until window closes', ONE, builder => {
    const counts = left(builder).groupByKey().windowedBy({ tumbling: '10s', grace: 0 }).count()
    counts.suppress({ until: 'windowCloses' }).toStream().to('out')
  }),
  keyed('suppress until 2s', ONE, builder => {
    builder.table('left', both).suppress({ until: '2s' }).toStream().to('out')
  }),
]

const JOINS: readonly Bench[] = [
  keyed('stream-stream join', TWO, builder => {
    left(builder).join(right(builder), total, WITHIN).to('out', { value: long })
  }),
  keyed('stream-stream outer join', TWO, builder => {
    left(builder)
      .outerJoin(right(builder), (l, r) => (l ?? 0) + (r ?? 0), WITHIN)
      .to('out', { value: long })
  }),
  keyed('stream-table join', ['right', 'left'], builder => {
    left(builder).join(builder.table('right', both), total).to('out', { value: long })
  }),
  keyed('stream-versioned table join', ['right', 'left'], builder => {
    const versioned = { historyRetention: '10s' } as const
    left(builder)
      .join(builder.table('right', { ...both, versioned }), total)
      .to('out', { value: long })
  }),
  keyed('stream-global table join', ['right', 'left'], builder => {
    left(builder)
      .join(builder.globalTable('right', both), (_, key) => key, total)
      .to('out', { value: long })
  }),
  keyed('table-table join', TWO, builder => {
    builder.table('left', both).join(builder.table('right', both), total).toStream().to('out', { value: long })
  }),
  keyed('foreign-key join', TWO, builder => {
    const options = { value: long }
    builder
      .table('left', both)
      .foreignKeyJoin(builder.table('right', both), (_, key) => key, total, options)
      .toStream()
      .to('out')
  }),
]

/** Every operator that is measured. */
export const BENCHES: readonly Bench[] = [...STATELESS, ...AGGREGATIONS, ...TABLES, ...JOINS]

/** The topology of an operator. */
export function topologyOf(bench: Bench): ReturnType<typeof streams> {
  return streams(builder => {
    bench.build(builder)
  })
}
