import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import { sessionWindowed, timeWindowed } from '../../../src/serdes/windowed.ts'
import type { KStream, KTable } from '../../../src/topology/dsl.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import type { Topology } from '../../../src/topology/topology.ts'

const text = { key: string, value: string }
const empty = (): string => ''
const merge = (left: string, right: string): string => `${left}|${right}`
const pair = (left: string | null, right: string | null): string => `${String(left)}/${String(right)}`
const tumbling = { tumbling: '10s', grace: '2s' } as const
const hopping = { hopping: '10s', every: '4s', grace: '2s' } as const
const sliding = { sliding: '5s', grace: '2s' } as const
const sessions = { session: '3s', grace: '2s' } as const
const history = { historyRetention: '3s' } as const
const final = { emit: 'final' } as const

/** A store of text. */
const kept = (store: string): { store: string; value: typeof string } => ({ store, value: string })

/** Serdes of windowed keys over text, by the size of the window. */
const windowed = (size: '5s' | '10s'): { readonly key: ReturnType<typeof timeWindowed<string>> } => ({
  key: timeWindowed(string, size),
})

const adding =
  (letter: 'A' | 'B') =>
  (sum: string, value: string): string =>
    `${sum}${letter}${value}`
const add = (sum: string, value: string): string => tail(`${sum}+${value}`)
const subtract = (sum: string, value: string): string => tail(`${sum}-${value}`)

type Text = KStream<string | null, string | null>

/** Where the inputs are read and the outputs written. */
export interface OperatorTopics {
  readonly inputs: string
  readonly applicationId: string
}

/** Names of the output topics, behind `<application id>-`. */
export const OPERATOR_OUTPUTS = [
  'reduce',
  'aggregate',
  'count',
  'rekeyed',
  'tumbling',
  'hopping',
  'sliding',
  'sessions',
  'tumbling-final',
  'sliding-final',
  'sessions-final',
  'suppressed',
  'stream-inner',
  'stream-left',
  'stream-outer',
  'table-inner',
  'table-left',
  'tables-inner',
  'tables-left',
  'tables-outer',
  'global',
  'versioned',
  'cogroup',
  'cogroup-windows',
  'table-aggregate',
  'table-reduce',
  'table-count',
  'limited',
  'repartitioned',
  'mapped',
  'versioned-table',
  'versioned-filter',
  'versioned-aggregate',
  'versioned-reduce',
  'versioned-count',
  'versioned-tables',
  'versioned-stream',
  'versioned-thirds',
  'foreign-inner',
  'foreign-left',
] as const

type Output = (typeof OPERATOR_OUTPUTS)[number]

/**
 * Every operator once; the twin of test/support/java/StreamsOperators.java: the same steps in the same order, so that even
 * numbered names are the same.
 */
export function operatorsTopology({ inputs, applicationId }: OperatorTopics): Topology {
  const to = (name: Output): string => `${applicationId}-${name}`
  return streams(b => {
    aggregations(b, inputs, to)
    pairs(b, inputs, to)
    rekeyings(b, inputs, to)
    foreignKeys(b, inputs, to)
  })
}

type OutputTopic = (name: Output) => string

function aggregations(b: StreamsBuilder, inputs: string, to: OutputTopic): void {
  const events = read(b, `${inputs}events`)
  const grouped = events.groupByKey()
  grouped.reduce(plus, { store: 'reduced' }).toStream().to(to('reduce'))
  grouped.aggregate(empty, append, { store: 'aggregated', value: string }).toStream().to(to('aggregate'))
  grouped.count().toStream().to(to('count'))
  events
    .groupBy(v => `g${String(number(v) % 3)}`, { key: string, name: 'halves' })
    .count({ store: 'halves' })
    .toStream()
    .to(to('rekeyed'))

  grouped.windowedBy(tumbling).aggregate(empty, append, kept('tumbling')).toStream().to(to('tumbling'), windowed('10s'))
  grouped.windowedBy(hopping).reduce(plus, { store: 'hopping' }).toStream().to(to('hopping'), windowed('10s'))
  grouped.windowedBy(sliding).aggregate(empty, append, kept('sliding')).toStream().to(to('sliding'), windowed('5s'))
  grouped
    .windowedBy(sessions)
    .aggregate(empty, append, merge, kept('sessions'))
    .toStream()
    .to(to('sessions'), { key: sessionWindowed(string) })
  grouped
    .windowedBy(tumbling, final)
    .aggregate(empty, append, kept('tumbling-final'))
    .toStream()
    .to(to('tumbling-final'), windowed('10s'))
  grouped
    .windowedBy(sliding, final)
    .reduce(plus, { store: 'sliding-final' })
    .toStream()
    .to(to('sliding-final'), windowed('5s'))
  grouped
    .windowedBy(sessions, final)
    .aggregate(empty, append, merge, kept('sessions-final'))
    .toStream()
    .to(to('sessions-final'), { key: sessionWindowed(string) })
  grouped
    .windowedBy(tumbling)
    .aggregate(empty, append, kept('suppressed'))
    .suppress({ until: 'windowCloses', name: 'until-close' })
    .toStream()
    .to(to('suppressed'), windowed('10s'))
  versioned(events, to)
}

function versioned(events: Text, to: OutputTopic): void {
  const grouped = events.groupByKey()
  const table = events.mapValues(orDeleted).toTable({ ...kept('versioned-table'), versioned: history })
  table.toStream().to(to('versioned-table'))
  table
    .filter(v => number(v) % 4 !== 0)
    .toStream()
    .to(to('versioned-filter'))
  const aggregate = grouped.aggregate(empty, append, { ...kept('versioned-aggregated'), versioned: history })
  aggregate.toStream().to(to('versioned-aggregate'))
  grouped.reduce(plus, { store: 'versioned-reduced', versioned: history }).toStream().to(to('versioned-reduce'))
  grouped.count({ store: 'versioned-counted', versioned: history }).toStream().to(to('versioned-count'))
  table.outerJoin(aggregate, pair).toStream().to(to('versioned-tables'), { value: string })
  events
    .filter((_v, k) => k !== null)
    .leftJoin(aggregate, pair)
    .to(to('versioned-stream'), { value: string })
}

function pairs(b: StreamsBuilder, inputs: string, to: OutputTopic): void {
  const all = read(b, `${inputs}pairs`)
  const left = all.filter(v => v?.startsWith('L') === true)
  const right = all.filter(v => v?.startsWith('R') === true)
  const out = { value: string }
  const within = { within: '4s', grace: '2s' } as const
  left.join(right, pair, { ...within, name: 'si', store: 'si' }).to(to('stream-inner'), out)
  left.leftJoin(right, pair, { ...within, name: 'sl', store: 'sl' }).to(to('stream-left'), out)
  left.outerJoin(right, pair, within).to(to('stream-outer'), out)

  const leftTable = left.mapValues(orDeleted).toTable({ store: 'left', value: string })
  const rightTable = right.mapValues(orDeleted).toTable({ store: 'right', value: string })
  left.join(rightTable, pair).to(to('table-inner'), out)
  left.leftJoin(rightTable, pair).to(to('table-left'), out)
  leftTable.join(rightTable, pair).toStream().to(to('tables-inner'), out)
  leftTable.leftJoin(rightTable, pair, { store: 'tables-left', value: string }).toStream().to(to('tables-left'))
  leftTable.outerJoin(rightTable, pair, { store: 'tables-outer', value: string }).toStream().to(to('tables-outer'))
  left
    .leftJoin(b.globalTable(`${inputs}rates`, { ...text, store: 'rates' }), v => `r${String(number(v) % 4)}`, pair)
    .to(to('global'), out)

  const versions = b.table(`${inputs}versions`, { ...text, store: 'versions', versioned: { historyRetention: '30s' } })
  left
    .filter((_v, k) => k !== null)
    .leftJoin(versions, pair, { name: 'waiting', grace: '3s' })
    .to(to('versioned'), out)

  const [leftGroup, rightGroup] = [left.groupByKey(), right.groupByKey()]
  leftGroup
    .cogroup<string>(adding('A'))
    .cogroup(rightGroup, adding('B'))
    .aggregate(empty, { store: 'cogrouped', value: string })
    .toStream()
    .to(to('cogroup'))
  leftGroup
    .cogroup<string>(adding('A'))
    .cogroup(rightGroup, adding('B'))
    .windowedBy(tumbling)
    .aggregate(empty, { store: 'cogrouped-windows', value: string })
    .toStream()
    .to(to('cogroup-windows'), windowed('10s'))
  leftTable
    .filter(v => number(v) % 5 !== 0)
    .suppress({ until: '5s', maxRecords: 3, name: 'limited' })
    .toStream()
    .to(to('limited'))
}

function rekeyings(b: StreamsBuilder, inputs: string, to: OutputTopic): void {
  const all = read(b, `${inputs}single`)
  groupedTables(all.mapValues(orDeleted).toTable({ store: 'single', value: string }), to)
  rekeyed(all, to)
}

function groupedTables(table: KTable<string, string>, to: OutputTopic): void {
  const grouped = table.groupBy((v, k) => [`g${String(number(v) % 3)}`, k + v], { ...text, name: 'thirds' })
  grouped
    .aggregate(empty, add, subtract, { store: 'table-aggregated', value: string })
    .toStream()
    .to(to('table-aggregate'))
  grouped.reduce(add, subtract, { store: 'table-reduced' }).toStream().to(to('table-reduce'))
  grouped.count({ store: 'table-counted' }).toStream().to(to('table-count'))
  grouped
    .aggregate(empty, add, subtract, { ...kept('versioned-thirds'), versioned: history })
    .toStream()
    .to(to('versioned-thirds'))
}

function rekeyed(all: Text, to: OutputTopic): void {
  const valued = all.filter((v): v is string => v !== null)
  valued
    .selectKey(v => `s${String(number(v) % 7)}`)
    .repartition({ ...text, name: 'wide', partitions: 3 })
    .to(to('repartitioned'))
  valued
    .map((v): [string, string] => [`m${String(number(v) % 2)}`, v])
    .groupByKey(text)
    .windowedBy(tumbling)
    .aggregate(empty, append, { value: string })
    .toStream()
    .to(to('mapped'), windowed('10s'))
}

function foreignKeys(b: StreamsBuilder, inputs: string, to: OutputTopic): void {
  const orders = b.table(`${inputs}orders`, { ...text, store: 'orders' })
  const customers = b.table(`${inputs}customers`, { ...text, store: 'customers' })
  orders
    .foreignKeyJoin(customers, customerOf, pair, { value: string, store: 'foreign' })
    .toStream()
    .to(to('foreign-inner'))
  orders.foreignKeyLeftJoin(customers, customerOf, pair, { value: string }).toStream().to(to('foreign-left'))
}

function read(b: StreamsBuilder, topic: string): Text {
  return b.stream(topic, { key: nullable(string), value: nullable(string) })
}

/** The number behind the first letter of a value; −1 for null and for deletions. */
function number(value: string | null): number {
  return value === null || value.endsWith('DEL') ? -1 : Number(value.slice(1))
}

function append(aggregate: string, value: string | null): string | null {
  return value === null || value.endsWith('DEL') ? null : tail(`${aggregate}${value};`)
}

function plus(aggregate: string, value: string | null): string | null {
  return value === null || value.endsWith('DEL') ? null : tail(`${aggregate}+${value}`)
}

function orDeleted(value: string | null): string | null {
  return value === null || value.endsWith('DEL') ? null : value
}

function customerOf(order: string): string | null {
  const customer = order.split(':')[0] ?? 'none'
  return customer === 'none' ? null : customer
}

/** Keeps what grows with every record short. */
function tail(value: string): string {
  return value.slice(-40)
}
