import { long, processor, streams, string, type KStream, type StreamsBuilder } from '../../src/index.ts'

const text = { key: string, value: string }

function source(builder: StreamsBuilder, topic: string): KStream<string, string> {
  return builder.stream(topic, text)
}

/** A stream whose key was changed by `map`. */
function mapped(builder: StreamsBuilder, topic: string): KStream<string, string> {
  return source(builder, topic)
    .map((value, key) => [value, key])
    .withSerdes(text)
}

function rekeyed(builder: StreamsBuilder, topic: string): KStream<string, string> {
  return source(builder, topic)
    .selectKey(value => value)
    .withSerdes(text)
}

const pass = processor({
  input: text,
  ...text,
  init: ({ forward }) => {
    return ({ key, value }) => {
      forward({ key, value })
    }
  },
})

const joined = (left: string, right: string): string => left + right
const WITHIN = { within: 100, grace: 0 } as const

/** The topologies of `test/support/java/OptimizedTopologies.java`, by the same names. */
export const OPTIMIZED_TOPOLOGIES: Readonly<Record<string, (builder: StreamsBuilder) => void>> = {
  'two-counts': b => {
    const m = mapped(b, 'a')
    m.groupByKey().count({ store: 'c1' })
    m.groupByKey().count({ store: 'c2' })
  },
  'numbered-stores': b => {
    const m = mapped(b, 'a')
    m.groupByKey().count().toStream().to('out')
    m.groupByKey()
      .reduce((_, right) => right)
      .toStream()
      .to('out2')
  },
  'one-count': b => {
    mapped(b, 'a').groupByKey().count({ store: 'c1' })
  },
  'filter-between': b => {
    const m = mapped(b, 'a')
    m.filter(() => true)
      .groupByKey()
      .count({ store: 'c1' })
    m.groupByKey().count({ store: 'c2' })
    m.to('out')
  },
  'filter-shared': b => {
    const f = mapped(b, 'a').filter(() => true)
    f.groupByKey().count({ store: 'c1' })
    f.groupByKey().count({ store: 'c2' })
  },
  'values-between': b => {
    const m = mapped(b, 'a')
    m.mapValues(value => value)
      .withSerdes(text)
      .groupByKey()
      .count({ store: 'c1' })
    m.groupByKey().count({ store: 'c2' })
  },
  'merge-of-rekeyed': b => {
    const m = rekeyed(b, 'a').merge(rekeyed(b, 'b'))
    m.groupByKey().count({ store: 'c1' })
    m.groupByKey().count({ store: 'c2' })
  },
  'merge-one-side': b => {
    rekeyed(b, 'a').merge(source(b, 'b')).groupByKey().count({ store: 'c1' })
  },
  'join-and-count': b => {
    const m = mapped(b, 'a')
    m.join(source(b, 'b'), joined, WITHIN).to('out', text)
    m.groupByKey().count({ store: 'c1' })
  },
  'table-join-and-count': b => {
    const m = rekeyed(b, 'a')
    m.join(b.table('t', { ...text, store: 'ts' }), joined).to('out', text)
    m.groupByKey().count({ store: 'c1' })
  },
  'named-groups': b => {
    const m = mapped(b, 'a')
    m.groupByKey({ name: 'g' }).count({ store: 'c1' })
    m.groupByKey({ name: 'h' }).windowedBy({ tumbling: 100, grace: 0 }).count({ store: 'c2' })
  },
  'self-join': b => {
    const a = source(b, 'a')
    a.join(a, joined, WITHIN).to('out', text)
  },
  'table-source': b => {
    b.table('t', { ...text, store: 'ts' })
      .toStream()
      .selectKey(value => value)
      .withSerdes(text)
      .groupByKey()
      .count({ store: 'c1' })
  },
  'to-table': b => {
    const m = mapped(b, 'a')
    m.toTable({ store: 'ts' })
    m.groupByKey().count({ store: 'c1' })
  },
  'explicit-repartition': b => {
    const m = mapped(b, 'a')
    m.repartition({ name: 'r' }).groupByKey().count({ store: 'c1' })
    m.groupByKey().count({ store: 'c2' })
  },
  cogroup: b => {
    const m = mapped(b, 'a')
    const n = mapped(b, 'b')
    m.groupByKey({ name: 'g1' })
      .cogroup<string>(joined)
      .cogroup(n.groupByKey({ name: 'g2' }), joined)
      .aggregate(() => '', { value: string, store: 'cg' })
    m.groupByKey().count({ store: 'c1' })
  },
  process: b => {
    const p = source(b, 'a').process(pass)
    p.groupByKey().count({ store: 'c1' })
    p.groupByKey().count({ store: 'c2' })
  },
  chained: b => {
    const counts = mapped(b, 'a')
      .groupByKey()
      .count({ store: 'c1' })
      .toStream()
      .selectKey((_, key) => key)
      .withSerdes({ key: string, value: long })
    counts.groupByKey().count({ store: 'c2' })
    counts.groupByKey().count({ store: 'c3' })
  },
  'group-by': b => {
    const a = source(b, 'a')
    a.groupBy(value => value, { key: string }).count({ store: 'c1' })
    a.groupBy(value => value, { key: string }).count({ store: 'c2' })
  },
  'peek-and-merge-below': b => {
    const m = mapped(b, 'a').peek(() => undefined)
    m.groupByKey().count({ store: 'c1' })
    m.filter(() => true)
      .merge(m.filterNot(() => true))
      .groupByKey()
      .count({ store: 'c2' })
  },
}

/** How we describe a topology under a value of `topology.optimization`. */
export function describedAs(define: (builder: StreamsBuilder) => void, optimization: string): string {
  return String(streams(define).describe({ 'topology.optimization': optimization }))
}
