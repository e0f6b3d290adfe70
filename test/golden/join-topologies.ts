import { string } from '../../src/serdes/text.ts'
import { versionedKeyValueStore } from '../../src/stores/store-spec.ts'
import type { VersionedRecord } from '../../src/stores/store-types.ts'
import type { KStream, KTable } from '../../src/topology/dsl.ts'
import type { StreamJoinOptions } from '../../src/topology/options.ts'
import type { StreamsBuilder } from '../../src/topology/streams-builder.ts'
import { isEven, num, numberOf, read, text, type CaseBuilder, type CaseParams } from './case-parts.ts'

const kept = { store: 'tt', value: string }
const pair = (l: string | null, r: string | null): string => `${String(l)}/${String(r)}`
const parities = (l: string | null, r: string | null): string => `${parity(l)}${parity(r)}`

function parity(value: string | null): string {
  return value === null ? '-' : String(num(value) % 2)
}

type Table = KTable<string, string>
type Unkept = KTable<string, string, 'no value serde'>

function plainTables(join: (left: Table, right: Table) => Unkept): CaseBuilder {
  return b => {
    join(b.table('l', text), b.table('r', text)).toStream().to('out', { value: string })
  }
}

function keptTables(join: (left: Table, right: Table) => Table): CaseBuilder {
  return b => {
    join(b.table('l', text), b.table('r', text)).toStream().to('out')
  }
}

function groupedTables(join: (left: Table, right: Table) => Unkept): CaseBuilder {
  return b => {
    join(b.table('l', text), b.table('r', text))
      .groupBy((v, k) => [v, k], text)
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string })
      .toStream()
      .to('out')
  }
}

type Stream = KStream<string | null, string | null>

/** A join of two streams, with the names and bounds of its case. */
function streamJoin(store?: string): CaseBuilder {
  return (b, _note, params) => {
    const options = {
      within: { before: numberOf(params, 'before'), after: numberOf(params, 'after') },
      grace: numberOf(params, 'grace'),
      ...(store === undefined ? {} : { store, name: 'jn' }),
    }
    joinBy(params, read(b, 'left'), read(b, 'right'), options)
  }
}

function joinBy(params: CaseParams, left: Stream, right: Stream, options: StreamJoinOptions): void {
  const joined =
    params['kind'] === 'inner'
      ? left.join(right, pair, options)
      : params['kind'] === 'left'
        ? left.leftJoin(right, pair, options)
        : left.outerJoin(right, pair, options)
  joined.to('out', { value: string })
}

const selfJoin: CaseBuilder = b => {
  const stream = read(b, 'in')
  stream.join(stream, pair, { within: 50, grace: 0 }).to('out', { value: string })
}

/** Joins of streams; the numbers in names are parameters. */
const STREAM_JOINS: Readonly<Record<string, CaseBuilder>> = {
  'misc-window-join-chain': b => {
    read(b, 'a')
      .join(read(b, 'b'), pair, { within: 50, grace: 20 })
      .groupByKey({ value: string })
      .windowedBy({ tumbling: 100, grace: 50 })
      .count({ store: 'w' })
      .toStream()
      .to('out')
  },
  'ssjoin-self-inner': selfJoin,
  'ssjoin-self-inner-optimized': selfJoin,
  'ssjoin-outer-rekeyed-headers': (b, _note, params) => {
    read(b, 'left')
      .selectKey(v => `k${String(num(v) % 2)}`)
      .outerJoin(read(b, 'right'), (l, r, k) => `${String(k)}=${String(l)}/${String(r)}`, {
        within: { before: numberOf(params, 'before'), after: numberOf(params, 'after') },
        grace: numberOf(params, 'grace'),
        key: string,
      })
      .to('out', { value: string })
  },
}

/** The builder of a case whose name holds the kind and bounds of a join; `undefined` for others. */
export function streamJoinOf(name: string): CaseBuilder | undefined {
  if (STREAM_JOINS[name] !== undefined) return STREAM_JOINS[name]
  if (/^ssjoin-(inner|left|outer)-inmemory$/.test(name)) return streamJoin('jj')
  return /^ssjoin-(inner|left|outer)-(\d+-\d+-g\d+|throttled|throttled-wall\d+|longrun)$/.test(name) ? streamJoin() : undefined
}

/** Joins of tables by their keys. */
export const TABLE_JOINS: Readonly<Record<string, CaseBuilder>> = {
  'ttjoin-inner': plainTables((l, r) => l.join(r, pair)),
  'ttjoin-left': plainTables((l, r) => l.leftJoin(r, pair)),
  'ttjoin-outer': plainTables((l, r) => l.outerJoin(r, pair)),
  'ttjoin-inner-materialized': keptTables((l, r) => l.join(r, pair, kept)),
  'ttjoin-left-materialized': keptTables((l, r) => l.leftJoin(r, pair, kept)),
  'ttjoin-outer-materialized': keptTables((l, r) => l.outerJoin(r, pair, kept)),
  'ttjoin-inner-groupBy': groupedTables((l, r) => l.join(r, parities)),
  'ttjoin-left-groupBy': groupedTables((l, r) => l.leftJoin(r, parities)),
  'ttjoin-outer-groupBy': groupedTables((l, r) => l.outerJoin(r, parities)),
  'ttjoin-nested': b => {
    const [left, right, third] = [b.table('l', text), b.table('r', text), b.table('t', text)]
    left.outerJoin(right, pair).leftJoin(third, pair).toStream().to('out', { value: string })
  },
  'ttjoin-null-joiner': b => {
    b.table('l', text)
      .join(b.table('r', text), (l, r) => (num(l) % 2 === 0 ? null : pair(l, r)), kept)
      .toStream()
      .to('out')
  },
  'misc-table-sources-of-one-topic': b => {
    read(b, 'in').to('out1')
    const table = b.table('in2', text)
    table.join(table, pair).toStream().to('out2', { value: string })
  },
}

type KeyFinder = (value: string, key: string) => string | null

const foreignKey = (value: string): string | null => {
  const key = value.split(':')[0] ?? 'none'
  return key === 'none' ? null : key
}

const keyOrForeignKey = (value: string, key: string): string | null => (isEven(value) ? key : foreignKey(value))

function foreignKeyJoin(isLeft: boolean, options: { readonly store?: string }, extract: KeyFinder = foreignKey): CaseBuilder {
  return b => {
    const [left, right] = [b.table('l', text), b.table('r', text)]
    const joined = isLeft
      ? left.foreignKeyLeftJoin(right, extract, pair, { ...options, value: string })
      : left.foreignKeyJoin(right, extract, pair, { ...options, value: string })
    joined.toStream().to('out')
  }
}

/** Joins of tables by a key found in the value. */
export const FOREIGN_KEY_JOINS: Readonly<Record<string, CaseBuilder>> = {
  'fkjoin-inner': foreignKeyJoin(false, {}),
  'fkjoin-left': foreignKeyJoin(true, {}),
  'fkjoin-inner-materialized': foreignKeyJoin(false, { store: 'fj' }),
  'fkjoin-left-materialized': foreignKeyJoin(true, { store: 'fj' }),
  'fkjoin-inner-with-key': foreignKeyJoin(false, {}, keyOrForeignKey),
  'fkjoin-left-with-key': foreignKeyJoin(true, {}, keyOrForeignKey),
}

function versionedTable(b: StreamsBuilder, topic: string, store: string, params: CaseParams): KTable<string, string> {
  return b.table(topic, { ...text, store, versioned: { historyRetention: numberOf(params, 'historyRetention') } })
}

function versionedJoin(isLeft: boolean, waits: boolean): CaseBuilder {
  return (b, _note, params) => {
    const stream = read(b, 's')
    const table = versionedTable(b, 't', 'vt', params)
    const options = waits ? { name: 'jb', grace: numberOf(params, 'grace') } : {}
    const joined = isLeft ? stream.leftJoin(table, pair, options) : stream.join(table, pair, options)
    joined.to('out', { value: string })
  }
}

/** Tables and stores that keep versions. */
export const VERSIONED: Readonly<Record<string, CaseBuilder>> = {
  'stjoin-inner-versioned': versionedJoin(false, false),
  'stjoin-left-versioned': versionedJoin(true, false),
  'stjoin-inner-versioned-grace': versionedJoin(false, true),
  'stjoin-left-versioned-grace': versionedJoin(true, true),
  'stjoin-left-versioned-grace-nullkey': versionedJoin(true, true),
  'versioned-table': (b, _note, params) => {
    versionedTable(b, 'in', 'vt', params).toStream().to('out')
  },
  'versioned-table-filter-groupBy': (b, _note, params) => {
    versionedTable(b, 'in', 'vt', params)
      .filter(v => num(v) % 4 !== 0)
      .groupBy((v, k) => [`g${String(num(v) % 3)}`, k + v], text)
      .aggregate(() => '', (a, v) => `${a}+${v}`, (a, v) => `${a}-${v}`, { store: 'ga', value: string })
      .toStream()
      .to('out')
  },
  'versioned-table-table-join': (b, _note, params) => {
    versionedTable(b, 'l', 'vl', params)
      .outerJoin(versionedTable(b, 'r', 'vr', params), pair)
      .toStream()
      .to('out', { value: string })
  },
  'versioned-user-store': (b, _note, params) => {
    const options = { historyRetention: numberOf(params, 'historyRetention'), segmentInterval: numberOf(params, 'segmentInterval') }
    read(b, 'in')
      .process({
        stores: { v: versionedKeyValueStore('v', { ...text, ...options }) },
        value: string,
        init:
          ({ stores: { v: versions }, forward }) =>
          ({ key, value, timestamp }) => {
            if (key === null) return
            const end = versions.put(key, value, timestamp)
            const shown = end === 'latest' ? '-1' : end === 'rejected' ? '-9223372036854775808' : String(end)
            const [latest, before] = [versions.get(key), versions.get(key, timestamp - 30)]
            forward({ key, value: `put=${shown} get=${shownVersion(latest)} asof=${shownVersion(before)}` })
          },
      })
      .to('out')
  },
}

function shownVersion(version: VersionedRecord<string> | undefined): string {
  return version === undefined ? 'null' : `${version.value}@${String(version.timestamp)}`
}
