import { string } from '../../src/serdes/text.ts'
import type { KStream, KTable } from '../../src/topology/dsl.ts'
import type { StreamsBuilder } from '../../src/topology/streams-builder.ts'
import { num, numberOf, read, text, type CaseBuilder, type CaseParams } from './case-parts.ts'
import { append } from './window-topologies.ts'

/** Cases outside the list of Kafka Streams' golden files; their twins are in `jvm/`. */

type Table = KTable<string, string>
type Kind = 'inner' | 'left' | 'outer'

const pair = (l: string | null, r: string | null): string => `${String(l)}/${String(r)}`
const marked = (v: string): string => `${v}m`
const notThird = (v: string): boolean => num(v) % 3 !== 0
const notFourth = (v: string): boolean => num(v) % 4 !== 0
const withoutFifths = (v: string): string | null => (num(v) % 5 === 0 ? null : v)

function historyOf(params: CaseParams): { versioned: { historyRetention: number } } {
  return { versioned: { historyRetention: numberOf(params, 'historyRetention') } }
}

function versioned(b: StreamsBuilder, topic: string, store: string, params: CaseParams): Table {
  return b.table(topic, { ...text, store, ...historyOf(params) })
}

function byThird(stream: KStream<string | null, string | null>): KStream<string | null, string | null> {
  return stream.selectKey(v => (v === null ? null : `k${String(num(v) % 3)}`)).withSerdes(nullableKeys)
}

const nullableKeys = { key: string, value: string }

function out(table: KTable<string, string, 'no value serde'> | Table): void {
  table.toStream().to('out', { value: string })
}

function grouped(table: KTable<string, string, 'no value serde'> | Table): Table {
  return (table as Table)
    .groupBy((v, k) => [`g${String(num(v) % 3)}`, k + v], text)
    .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string })
}

function suppressed(table: Table): void {
  table.suppress({ until: 40, name: 'sup' }).toStream().to('out')
}

/** What a case does with the versioned table of its one topic. */
function ofTable(use: (table: Table) => void): CaseBuilder {
  return (b, _note, params) => {
    use(versioned(b, 'in', 'vt', params))
  }
}

const mark = (): ((v: string | null) => string | null) => v => (v === null ? null : `m:${v === 'DEL' ? '-1' : v}`)

const TABLES: Readonly<Record<string, CaseBuilder>> = {
  'versioned-filter': ofTable(t => { out(t.filter(notThird)) }),
  'versioned-filter-materialized': ofTable(t => { out(t.filter(notThird, { store: 'f' })) }),
  'versioned-filterNot': ofTable(t => { out(t.filterNot(v => num(v) % 3 === 0).mapValues(marked)) }),
  'versioned-mapValues-materialized': ofTable(t => { out(t.mapValues(marked, { store: 'm', value: string })) }),
  'versioned-transformValues': ofTable(t => { out(t.transformValues(mark, { store: 'tv', value: string })) }),
  'versioned-mapValues-groupBy': ofTable(t => { out(grouped(t.mapValues(withoutFifths))) }),
  'versioned-mapValues-materialized-groupBy': ofTable(t => { out(grouped(t.mapValues(withoutFifths, { store: 'm', value: string }))) }),
  'versioned-filter-materialized-groupBy': ofTable(t => { out(grouped(t.filter(notThird, { store: 'f' }))) }),
  'versioned-transformValues-groupBy': ofTable(t => { out(grouped(t.transformValues(mark, { store: 'tv', value: string }))) }),
  'versioned-groupBy-reduce': ofTable(t => {
    out(t.groupBy(v => [`g${String(num(v) % 2)}`, v], text).reduce((a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'gr' }))
  }),
  'versioned-groupBy-count': ofTable(t => {
    t.groupBy(v => [`g${String(num(v) % 2)}`, v], text).count({ store: 'gc' }).toStream().to('out')
  }),
  'versioned-filter-materialized-suppress': ofTable(t => { suppressed(t.filter(notThird, { store: 'f' })) }),
  'versioned-groupBy-suppress': ofTable(t => { suppressed(grouped(t)) }),
  'versioned-join-suppress': (b, _n, params) => {
    suppressed(versioned(b, 'l', 'vl', params).join(versioned(b, 'r', 'vr', params), pair, { store: 'tt', value: string }))
  },
  'versioned-toTable': (b, _n, params) => { out(read(b, 'in').toTable({ ...text, store: 'tt', ...historyOf(params) })) },
  'versioned-toTable-groupBy': (b, _n, params) => { out(grouped(read(b, 'in').toTable({ ...text, store: 'tt', ...historyOf(params) }))) },
}

const AGGREGATIONS: Readonly<Record<string, CaseBuilder>> = {
  'versioned-count': (b, _n, params) => {
    read(b, 'in').groupByKey().count({ store: 'c', ...historyOf(params) }).toStream().to('out')
  },
  'versioned-reduce-groupBy': (b, _n, params) => {
    out(grouped(read(b, 'in').groupByKey().reduce((_a, v) => (v === 'DEL' ? null : v), { store: 'red', value: string, ...historyOf(params) })))
  },
  'versioned-aggregate': (b, _n, params) => {
    out(read(b, 'in').groupByKey().aggregate(() => '', append, { store: 'agg', value: string, ...historyOf(params) }))
  },
  'versioned-cogroup': (b, _n, params) => {
    out(
      read(b, 'a').groupByKey()
        .cogroup<string>((a, v) => `${a}A${v}`)
        .cogroup(read(b, 'b').groupByKey(), (a, v) => `${a}B${v}`)
        .aggregate(() => '', { store: 'cg', value: string, ...historyOf(params) }),
    )
  },
  'table-groupBy-versioned-aggregate': (b, _n, params) => {
    out(
      b.table('in', text)
        .groupBy((v, k) => [`g${String(num(v) % 3)}`, k + v], text)
        .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string, ...historyOf(params) }),
    )
  },
}

const REKEYED: Readonly<Record<string, CaseBuilder>> = {
  'merge-rekeyed-count': b => {
    byThird(read(b, 'in1')).merge(byThird(read(b, 'in2'))).groupByKey().count({ store: 'cnt' }).toStream().to('out')
  },
  'left-self-join': b => {
    const stream = read(b, 'in')
    stream.leftJoin(stream, pair, { within: 30, grace: 10 }).to('out', { value: string })
  },
  'outer-self-join': b => {
    const stream = read(b, 'in')
    stream.outerJoin(stream, pair, { within: 30, grace: 10 }).to('out', { value: string })
  },
  'rekeyed-self-join': b => {
    const stream = byThird(read(b, 'in'))
    stream.join(stream, pair, { within: 30, grace: 10 }).to('out', { value: string })
  },
  'rekeyed-self-join-named': b => {
    const stream = byThird(read(b, 'in'))
    stream.outerJoin(stream, pair, { within: 30, grace: 10, name: 'named', store: 'ss' }).to('out', { value: string })
  },
  'rekeyed-two-table-joins': b => {
    const stream = byThird(read(b, 's'))
    stream.join(b.table('t', text), pair).to('out', { value: string })
    stream.join(b.table('u', text), pair).to('out2', { value: string })
  },
  'rekeyed-inner-and-left': b => {
    const stream = byThird(read(b, 's'))
    stream.join(b.table('t', text), pair).to('out', { value: string })
    stream.leftJoin(b.table('u', text), pair).to('out2', { value: string })
  },
  'count-then-left-join': b => {
    byThird(read(b, 's'))
      .groupByKey()
      .count({ store: 'c' })
      .toStream()
      .mapValues(n => `n:${String(n)}`)
      .leftJoin(b.table('u', text), pair)
      .to('out', { value: string })
  },
  'repartition-left-join': b => {
    read(b, 's').repartition({ name: 'rp' }).leftJoin(b.table('u', text), pair).to('out', { value: string })
  },
  'rekeyed-global-left-join': b => {
    byThird(read(b, 's')).leftJoin(b.globalTable('g', { ...text, store: 'gs' }), v => v, pair).to('out', { value: string })
  },
  'rekeyed-join-and-self-join': b => {
    const stream = byThird(read(b, 's'))
    stream.leftJoin(b.table('t', text), pair).to('out', { value: string })
    stream.leftJoin(stream.mapValues(v => `${String(v)}m`).withSerdes({ value: string }), pair, { within: 30, grace: 10 }).to('out2', { value: string })
  },
  'rekeyed-twice': b => {
    const stream = byThird(read(b, 'in'))
    stream.groupByKey().count({ store: 'c1' }).toStream().to('out')
    stream.filter(v => num(v) % 2 === 0).groupByKey().reduce((a, v) => `${a}+${v}`, { store: 'c2' }).toStream().to('out2')
  },
  'table-joined-with-itself': b => {
    const table = b.table('in', text)
    out(table.mapValues(marked).leftJoin(table.filter(v => num(v) % 2 === 0), pair))
  },
  'sliding-suppress-session': b => {
    read(b, 'in')
      .groupByKey()
      .windowedBy({ sliding: 20, grace: 10 })
      .reduce((a, v) => `${a}+${v}`, { store: 'w' })
      .suppress({ until: 30, maxRecords: 4, name: 'sup' })
      .toStream()
      .to('out')
  },
}

function joined(kind: Kind, left: Table, right: Table): KTable<string, string, 'no value serde'> {
  if (kind === 'inner') return left.join(right, pair)
  return kind === 'left' ? left.leftJoin(right, pair) : left.outerJoin(right, pair)
}

function tableJoins(kind: Kind): Readonly<Record<string, CaseBuilder>> {
  return {
    [`versioned-${kind}-join`]: (b, _n, params) => {
      out(joined(kind, versioned(b, 'l', 'vl', params), versioned(b, 'r', 'vr', params)))
    },
    [`versioned-${kind}-join-plain`]: (b, _n, params) => {
      out(joined(kind, versioned(b, 'l', 'vl', params), b.table('r', text)))
    },
    [`plain-${kind}-join-versioned`]: (b, _n, params) => {
      out(joined(kind, b.table('l', text), versioned(b, 'r', 'vr', params).filter(notFourth)))
    },
    [`versioned-${kind}-join-groupBy`]: (b, _n, params) => {
      const lengths = joined(kind, versioned(b, 'l', 'vl', params), versioned(b, 'r', 'vr', params))
        .mapValues(v => `${String(v.length)}:${String(v.length)}`)
      out(
        lengths
          .groupBy((v, k) => [`g${String(num(v) % 2)}`, k + v], text)
          .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string }),
      )
    },
  }
}

function foreignKey(value: string): string | null {
  const key = value.split(':')[0] ?? 'none'
  return key === 'none' ? null : key
}

function byForeignKey(kind: 'inner' | 'left', left: Table, right: Table | KTable<string, string, 'no value serde'>): void {
  const typed = right as Table
  out(
    kind === 'left'
      ? left.foreignKeyLeftJoin(typed, foreignKey, pair, { value: string })
      : left.foreignKeyJoin(typed, foreignKey, pair, { value: string }),
  )
}

function withTable(kind: 'inner' | 'left', b: StreamsBuilder, table: Table | KTable<string, string, 'no value serde'>, grace?: number): void {
  const typed = table as Table
  const options = grace === undefined ? {} : { name: 'jb', grace }
  const stream = read(b, 's')
  const result = kind === 'left' ? stream.leftJoin(typed, pair, options) : stream.join(typed, pair, options)
  result.to('out', { value: string })
}

function otherJoins(kind: 'inner' | 'left'): Readonly<Record<string, CaseBuilder>> {
  return {
    [`versioned-fk-${kind}`]: (b, _n, params) => {
      byForeignKey(kind, versioned(b, 'l', 'vl', params), versioned(b, 'r', 'vr', params))
    },
    [`versioned-fk-${kind}-left-only`]: (b, _n, params) => { byForeignKey(kind, versioned(b, 'l', 'vl', params), b.table('r', text)) },
    [`versioned-fk-${kind}-right-only`]: (b, _n, params) => {
      byForeignKey(kind, b.table('l', text), versioned(b, 'r', 'vr', params).mapValues(marked).withSerdes({ value: string }))
    },
    [`versioned-st-${kind}-mapValues`]: (b, _n, params) => {
      withTable(kind, b, versioned(b, 't', 'vt', params).mapValues(v => (num(v) % 4 === 0 ? null : `${v}m`)))
    },
    [`versioned-st-${kind}-filter`]: (b, _n, params) => { withTable(kind, b, versioned(b, 't', 'vt', params).filter(notFourth)) },
    [`versioned-st-${kind}-filter-materialized`]: (b, _n, params) => {
      withTable(kind, b, versioned(b, 't', 'vt', params).filter(notFourth, { store: 'f' }))
    },
    [`versioned-st-${kind}-toTable-grace`]: (b, _n, params) => {
      withTable(kind, b, read(b, 't').toTable({ ...text, store: 'tt', ...historyOf(params) }), numberOf(params, 'grace'))
    },
    [`versioned-st-${kind}-reduce-grace`]: (b, _n, params) => {
      const table = read(b, 't').groupByKey().reduce((a, v) => `${a}+${v}`, { store: 'tr', value: string, ...historyOf(params) })
      withTable(kind, b, table, numberOf(params, 'grace'))
    },
  }
}

const EXTRAS: Readonly<Record<string, CaseBuilder>> = {
  ...TABLES,
  ...AGGREGATIONS,
  ...REKEYED,
  ...tableJoins('inner'),
  ...tableJoins('left'),
  ...tableJoins('outer'),
  ...otherJoins('inner'),
  ...otherJoins('left'),
}

/** The builder of a case outside the list; `undefined` for others. */
export function extraOf(name: string): CaseBuilder | undefined {
  return name.startsWith('extra-') ? EXTRAS[name.slice('extra-'.length)] : undefined
}
