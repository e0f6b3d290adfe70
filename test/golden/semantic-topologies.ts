import { CACHED } from './cached-topologies.ts'
import { COGROUPS } from './cogroup-topologies.ts'
import { WINDOWS } from './window-topologies.ts'
import { SUPPRESS } from './suppress-topologies.ts'
import { keyValueStore, timestampedKeyValueStore } from '../../src/stores/store-spec.ts'
import { long } from '../../src/serdes/numbers.ts'
import { nullable } from '../../src/serdes/nullable.ts'
import { string } from '../../src/serdes/text.ts'
import type { Step } from '../../src/operators/step.ts'
import type { JoinStep } from '../../src/operators/stream-table-join.ts'
import type { BuilderHandle } from '../../src/topology/builder-handle.ts'
import { streams } from '../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../src/topology/streams-builder.ts'
import type { Topology } from '../../src/topology/topology.ts'
import { isEven, nullableText, num, read, text, type CaseBuilder, type CaseParams, type Note } from './case-parts.ts'
import { extraOf } from './extra-topologies.ts'
import { FOREIGN_KEY_JOINS, streamJoinOf, TABLE_JOINS, VERSIONED } from './join-topologies.ts'

function append(aggregate: string, value: string): string | null {
  return value === 'DEL' ? null : `${aggregate}${value};`
}

function globalKey(value: string | null): string | null {
  return value === null || num(value) % 3 === 0 ? null : `g${String(num(value) % 4)}`
}

const STATELESS: Readonly<Record<string, CaseBuilder>> = {
  'stateless-filter': b => {
    read(b, 'in').filter(isEven).to('out')
  },
  'stateless-filterNot': b => {
    read(b, 'in').filterNot(isEven).to('out')
  },
  'stateless-map': b => {
    read(b, 'in')
      .map((v, k) => (k === null ? ['nokey', v] : [`${k}-${v === null ? 'n' : String(num(v) % 3)}`, v === null ? null : `${v}!`]))
      .to('out', text)
  },
  'stateless-mapValues': b => {
    const stream = read(b, 'in')
    stream.mapValues((v, k) => (v === null ? null : `${String(k)}:${v}`)).to('out', { value: string })
    stream.mapValues(v => (v === null ? 'was-null' : num(v) < 20 ? null : `${v}?`)).to('out2', { value: string })
  },
  'stateless-flatMap': b => {
    read(b, 'in')
      .flatMap((v, k) =>
        v === null
          ? []
          : Array.from({ length: Math.max(0, num(v) % 4) }, (_, i): [string, string] => [`${String(k)}${String(i)}`, `${v}/${String(i)}`]),
      )
      .to('out', text)
  },
  'stateless-flatMapValues': b => {
    read(b, 'in')
      .flatMapValues(v => (v === null ? [null, 'n'] : v))
      .to('out', { value: string })
  },
  'stateless-selectKey': b => {
    read(b, 'in')
      .selectKey(v => (v === null ? null : `k${String(num(v) % 4)}`))
      .to('out', { key: string })
  },
  'stateless-split-default': b => {
    const { even, small, rest } = read(b, 'in').split({ even: isEven, small: v => v !== null && num(v) < 30, rest: 'default' })
    even.to('even')
    small.to('small')
    rest.to('rest')
  },
  'stateless-split-nodefault-named': b => {
    const { A, second } = read(b, 'in').split({ A: isEven, second: (_v, k) => k === 'a' }, { name: 'br-' })
    A.mapValues(v => `${String(v)}@br-A`).to('out', { value: string })
    second.mapValues(v => `${String(v)}@br-2`).to('out', { value: string })
  },
  'stateless-merge': b => {
    read(b, 'in1').merge(read(b, 'in2')).mapValues(v => `${String(v)}m`).to('out', { value: string })
  },
  'stateless-peek-order': (b, note) => {
    const seen = read(b, 'in').peek((v, k) => {
      note(`p1 ${String(k)}=${String(v)}`)
    })
    seen
      .filter(isEven)
      .peek(() => {
        note('even')
      })
      .flatMapValues(v => [`${String(v)}x`, `${String(v)}y`])
      .peek(v => {
        note(`fm ${v}`)
      })
      .to('out1', { value: string })
    seen
      .mapValues(v => `${String(v)}z`)
      .peek(() => {
        note('z')
      })
      .to('out2', { value: string })
    seen.foreach(() => {
      note('end')
    })
  },
  'stateless-two-topics-dynamic-sink': b => {
    b.stream(['in1', 'in2'], nullableText).to((_v, k) => `dyn-${k ?? 'none'}`)
  },
  'stateless-timestamp-extractor': b => {
    b.stream('in', {
      ...nullableText,
      onInvalidTimestamp: 'skip',
      timestamp: (v, _k, { partitionTime }) => (v === null ? partitionTime : num(v) % 10 === 0 ? -1 : Number(v.split(':')[0]) + 1000),
    }).to('out')
  },
  'stateless-repartition': b => {
    read(b, 'in').repartition({ name: 'rp' }).mapValues(v => `${String(v)}r`).to('out', { value: string })
  },
  'stateless-selectKey-repartition-count': b => {
    read(b, 'in')
      .selectKey(v => (v === null ? null : `k${String(num(v) % 4)}`))
      .groupByKey({ key: string })
      .count({ store: 'cnt' })
      .toStream()
      .to('out')
  },
}

const AGGREGATIONS: Readonly<Record<string, CaseBuilder>> = {
  'agg-count': b => {
    read(b, 'in').groupByKey().count().toStream().to('out')
  },
  'agg-reduce': b => {
    read(b, 'in')
      .groupByKey()
      .reduce((a, v) => (v === 'DEL' ? null : `${a}+${v}`), { store: 'red' })
      .toStream()
      .to('out')
  },
  'agg-aggregate': b => {
    read(b, 'in').groupByKey().aggregate(() => '', append, { store: 'agg', value: string }).toStream().to('out')
  },
  'agg-groupBy-count': b => {
    read(b, 'in')
      .groupBy(v => (v === null ? null : `g${String(num(v) % 3)}`), { key: string })
      .count()
      .toStream()
      .to('out')
  },
  'agg-groupBy-aggregate-sum': b => {
    read(b, 'in')
      .groupBy(v => `g${String(num(v) % 3)}`, { key: string })
      .aggregate(() => 0, (sum, v) => (num(v) === -1 ? null : sum + num(v)), { store: 'sum', value: long })
      .toStream()
      .to('out')
  },
}

const TABLES: Readonly<Record<string, CaseBuilder>> = {
  'table-source-materialized': b => {
    b.table('in', { ...text, store: 't' }).toStream().to('out')
  },
  'table-source-plain': b => {
    b.table('in', text).toStream().to('out')
  },
  'table-source-optimized': b => {
    b.table('in', { ...text, store: 't' }).toStream().to('out')
  },
  'table-filter': b => {
    b.table('in', text).filter(isEven).toStream().to('out')
  },
  'table-filter-materialized': b => {
    b.table('in', { ...text, store: 't' }).filter(isEven, { store: 'f' }).toStream().to('out')
  },
  'table-filterNot-materialized': b => {
    b.table('in', text).filterNot(isEven, { store: 'f' }).toStream().to('out')
  },
  'table-mapValues': b => {
    b.table('in', text).mapValues((v, k) => (num(v) < 20 ? null : k + v)).toStream().to('out', { value: string })
  },
  'table-mapValues-materialized': b => {
    b.table('in', text).mapValues((v, k) => (num(v) < 20 ? null : k + v), { store: 'm', value: string }).toStream().to('out')
  },
  'table-filter-mapValues-groupBy-count': b => {
    b.table('in', text)
      .filter(v => num(v) % 4 !== 0)
      .mapValues(v => `m${String(num(v) % 3)}`)
      .groupBy(v => [v, v], text)
      .count({ store: 'cnt' })
      .toStream()
      .to('out')
  },
  'table-groupBy-count': b => {
    b.table('in', text).groupBy(v => [`g${String(num(v) % 3)}`, v], text).count().toStream().to('out')
  },
  'table-groupBy-aggregate': b => {
    b.table('in', text)
      .groupBy((v, k) => [`g${String(num(v) % 3)}`, k + v], text)
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string })
      .toStream()
      .to('out')
  },
  'table-groupBy-aggregate-nullkey': b => {
    b.table('in', text)
      .groupBy((v, k) => [num(v) % 4 === 0 ? null : `g${String(num(v) % 3)}`, k + v], text)
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => (a.length > 30 ? null : `${a}-${v}`), { store: 'ga', value: string })
      .toStream()
      .to('out')
  },
  'table-groupBy-reduce': b => {
    b.table('in', text)
      .groupBy(v => [`g${String(num(v) % 2)}`, v], text)
      .reduce((a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'gr' })
      .toStream()
      .to('out')
  },
  'table-toTable': b => {
    read(b, 'in').toTable({ store: 'tt' }).toStream().to('out')
  },
  'table-toTable-rekeyed': b => {
    read(b, 'in')
      .selectKey(v => (v === null ? 'nv' : `k${String(num(v) % 3)}`))
      .toTable({ key: string })
      .mapValues(v => `${v}t`)
      .toStream()
      .to('out', { value: string })
  },
  'table-transformValues': b => {
    b.table('in', text)
      .transformValues(
        () => {
          let calls = 0
          return (v, k) => {
            calls += 1
            return v === null ? null : `${k}${v}#${String(calls)}`
          }
        },
        { store: 'tv', value: string },
      )
      .toStream()
      .to('out')
  },
  'table-toStream-rekey': b => {
    b.table('in', text).toStream((_v, k) => `${k}!`).to('out', { key: string })
  },
}

const JOINS: Readonly<Record<string, CaseBuilder>> = {
  'stjoin-inner': b => {
    read(b, 's').join(b.table('t', text), (s, t) => `${s}/${t}`).to('out', { value: string })
  },
  'stjoin-left': b => {
    read(b, 's').leftJoin(b.table('t', text), (s, t) => `${s}/${String(t)}`).to('out', { value: string })
  },
  'stjoin-inner-rekeyed': b => {
    const stream = read(b, 's').selectKey(v => (v === null ? null : `k${String(num(v) % 3)}`))
    const table = b.table('t', text).mapValues(v => `${v}t`)
    stream.join(table, (s, t, k) => `${k}:${s}/${t}`, { key: string }).to('out', { value: string })
  },
  'stjoin-left-rekeyed': b => {
    const stream = read(b, 's').selectKey(v => (v === null ? null : `k${String(num(v) % 3)}`))
    const table = b.table('t', text).mapValues(v => `${v}t`)
    stream.leftJoin(table, (s, t, k) => `${String(k)}:${s}/${String(t)}`, { key: string }).to('out', { value: string })
  },
  'gtjoin-inner': b => {
    joinGlobal(b, globalKey, (s, g) => `${String(s)}/${String(g)}`, false)
  },
  'gtjoin-left': b => {
    joinGlobal(b, globalKey, (s, g) => `${String(s)}/${String(g)}`, true)
  },
  'gtjoin-inner-bykey': b => {
    joinGlobal(b, (_v, k) => k, (s, g, k) => `${String(k)}:${String(s)}/${String(g)}`, false)
  },
  'gtjoin-left-bykey': b => {
    joinGlobal(b, (_v, k) => k, (s, g, k) => `${String(k)}:${String(s)}/${String(g)}`, true)
  },
}

/** Global tables are not on the typed surface yet. */
function joinGlobal(
  builder: StreamsBuilder,
  selector: (value: string | null, key: string | null) => string | null,
  joiner: JoinStep,
  isLeft: boolean,
): void {
  const untyped = builder as unknown as BuilderHandle
  const stream = untyped.stream('s', nullableText)
  const table = untyped.globalTable('g', { ...text, store: 'gs' })
  stream.joinGlobalTable(table, selector as Step, joiner, {}, isLeft).to('out', { value: string })
}

function punctuated(by: 'streamTime' | 'wallClock'): CaseBuilder {
  return b => {
    read(b, 'in')
      .process({
        stores: { st: timestampedKeyValueStore('st', { key: string, value: long }) },
        value: string,
        init: ({ stores: { st }, forward, schedule }) => {
          schedule({ every: 100, by }, now => {
            if (st.approximateNumEntries === 0) forward({ key: 'tick', value: `@${String(now)}`, timestamp: now })
            for (const [key, { value }] of st.all()) {
              forward({ key, value: `${String(value)}@${String(now)}`, timestamp: now })
              st.delete(key)
            }
          })
          return ({ key, timestamp }) => {
            if (key !== null) st.put(key, { value: (st.get(key)?.value ?? 0) + 1, timestamp })
          }
        },
      })
      .to('out')
  }
}

const PROCESSORS: Readonly<Record<string, CaseBuilder>> = {
  'proc-dedup-kv': b => {
    read(b, 'in')
      .mapValues(v => (v === null ? null : String(num(v) % 3)))
      .processValues({
        stores: { seen: keyValueStore('seen', text) },
        value: nullable(string),
        init:
          ({ stores: { seen }, forward }) =>
          ({ key, value }) => {
            if (key === null) {
              forward({ value })
            } else if (value !== null && value !== seen.get(key)) {
              seen.put(key, value)
              forward({ value })
            }
          },
      })
      .to('out')
  },
  'proc-punctuate-stream-time': punctuated('streamTime'),
  'proc-punctuate-wall-clock': punctuated('wallClock'),
  'proc-forward-to-named-children': b => {
    const processed = b.stream('in', { ...nullableText, name: 'src' }).process({
      name: 'P',
      init:
        ({ forward }) =>
        record => {
          if (record.value === null) forward({ ...record, key: 'all' })
          else if (num(record.value) % 2 === 0) forward({ ...record, timestamp: record.timestamp + 7 }, 'S1')
          else forward({ ...record, headers: record.headers.with('odd', '1') }, 'S2')
        },
    })
    processed.to('out1', { name: 'S1' })
    processed.to('out2', { name: 'S2' })
  },
  'proc-timestamps-and-stream-time': b => {
    const first = read(b, 'in').process({
      value: string,
      init:
        ({ forward, streamTime, metadata }) =>
        ({ key, timestamp }) => {
          const offset = String(metadata()?.offset)
          forward({ key, value: `ts=${String(timestamp)},stream=${String(streamTime())},off=${offset}` })
        },
    })
    first.to('out')
    first
      .process({
        init:
          ({ forward, streamTime }) =>
          record => {
            forward({ ...record, timestamp: streamTime() })
          },
      })
      .to('out2')
  },
  'proc-kv-store-range': b => {
    read(b, 'in')
      .process({
        stores: { kv: keyValueStore('kv', { ...text, storeType: 'memory' }) },
        value: string,
        init:
          ({ stores: { kv }, forward }) =>
          ({ key, value }) => {
            if (key === null) return
            kv.put(key, value)
            const entries = [...kv.range('b', 'd')].map(([k, v]) => `${k}=${v}`)
            forward({ key, value: `${entries.join(',')} n=${String(kv.approximateNumEntries)}` })
          },
      })
      .to('out')
  },
}

const OTHERS: Readonly<Record<string, CaseBuilder>> = {
  'misc-count-then-join': b => {
    const counts = read(b, 'in').groupByKey().count({ store: 'c' })
    read(b, 'q').join(counts, (q, n) => `${q}=${String(n)}`).to('out', { value: string })
    counts
      .filter(n => n > 3)
      .toStream()
      .mapValues(n => (n === null ? null : String(n)))
      .to('out2', { value: string })
  },
  'misc-word-count': b => {
    read(b, 'in')
      .filter(v => v !== null)
      .mapValues(v => `w${String(num(v) % 5)} w${String(num(v) % 3)}`)
      .flatMapValues(v => v.split(' '))
      .groupBy(word => word, text)
      .count({ store: 'counts' })
      .toStream()
      .to('out')
  },
  'misc-processing-exception-continue': b => {
    read(b, 'in').mapValues(okOrBoom).to('out', { value: string })
  },
  'misc-processing-exception-fail': b => {
    read(b, 'in').mapValues(okOrBoom).to('out', { value: string })
  },
  'misc-deserialization-exception-continue': b => {
    b.stream('in', { key: nullable(string), value: nullable(long) })
      .mapValues(v => (v === null ? 'was-null' : String(v)))
      .to('out', { value: string })
  },
  'misc-negative-timestamps': b => {
    b.stream('in', { ...nullableText, onInvalidTimestamp: 'skip', timestamp: (_v, _k, { timestamp }) => timestamp - 10_020 }).to('out')
  },
  'misc-names': b => {
    b.stream('in', { ...nullableText, name: 'my-source' })
      .filter(v => v !== null, { name: 'my-filter' })
      .groupBy(v => `g${String(num(v) % 2)}`, { key: string, name: 'my-group' })
      .count({ name: 'my-count', store: 'my-store' })
      .toStream({ name: 'my-tostream' })
      .to('out', { name: 'my-sink' })
  },
}

function okOrBoom(value: string | null): string {
  if (num(value) % 5 === 0) throw new Error(`boom ${String(num(value))}`)
  return `${String(value)}ok`
}

const BUILDERS: Readonly<Record<string, CaseBuilder>> = {
  ...STATELESS,
  ...AGGREGATIONS,
  ...TABLES,
  ...JOINS,
  ...TABLE_JOINS,
  ...FOREIGN_KEY_JOINS,
  ...VERSIONED,
  ...PROCESSORS,
  ...OTHERS,
}

/** Parts of a case's name that are parameters, not another topology. */
const PARAMETERS = /-(?:rocksDB|in_memory|headers|headers-format)$/

/** A listed case that is run with another configuration. */
const VARIANT = /^extra-(?:cached|optimized|headers|cachedheaders)-of-/

/** The name of a case's topology: without what says how it is run. */
export function baseOf(name: string): string {
  return name.replace(VARIANT, '')
}

/** The builder of a case; `undefined` when there is none yet. */
export function builderOf(caseName: string): CaseBuilder | undefined {
  const name = baseOf(caseName)
  return BUILDERS[name] ?? extraOf(name) ?? BUILDERS[name.replace(PARAMETERS, '')] ?? [...WINDOWS, ...SUPPRESS, ...COGROUPS, ...CACHED].find(([pattern]) => pattern.test(name))?.[1] ?? streamJoinOf(name)
}

/** The topology of a case. */
export function topologyOf(build: CaseBuilder, note: Note, params: CaseParams): Topology {
  return streams(builder => {
    build(builder, note, params)
  })
}
