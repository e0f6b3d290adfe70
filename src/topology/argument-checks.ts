import { assert } from '../model/assert.ts'
import { MillraceError } from '../model/errors.ts'
import { isSerde, isSerializer } from '../serdes/is-serde.ts'
import { BuilderHandle } from './builder-handle.ts'
import { CogroupedHandle, WindowedCogroupedHandle, WindowedStreamHandle } from './grouped-handles.ts'
import { GlobalTableHandle, GroupedStreamHandle, GroupedTableHandle, StreamHandle, TableHandle } from './handles.ts'

/** What an argument has to be. */
interface Kind {
  /** In words: `a function`. */
  readonly what: string
  readonly matches: (value: unknown) => boolean
}

/** An argument of a method: its name, and what it has to be. */
type Argument = readonly [name: string, kind: Kind, options?: Readonly<Record<string, Kind>>]

const step: Kind = { what: 'a function', matches: isFunction }
const text: Kind = { what: 'a text', matches: value => typeof value === 'string' }
const serde: Kind = { what: 'a serde', matches: isSerde }
const serializer: Kind = { what: 'a serde', matches: isSerializer }
const object: Kind = { what: 'an object', matches: isObject }
const options: Kind = { what: 'an object of options', matches: value => value === undefined || isObject(value) }
const store: Kind = { what: 'a store', matches: value => isObject(value) && text.matches(value['name']) }
const stores: Kind = {
  what: 'an object of stores',
  matches: value => isObject(value) && Object.values(value).every(store.matches),
}
const topics: Kind = {
  what: 'a topic or a list of topics',
  matches: value => text.matches(value) || (Array.isArray(value) && value.every(text.matches)),
}
const topic: Kind = {
  what: 'a topic, or a function that gives one',
  matches: value => text.matches(value) || isFunction(value),
}
const branches: Kind = {
  what: "an object of conditions, which are functions or 'default'",
  matches: value => isObject(value) && Object.values(value).every(branch => branch === 'default' || isFunction(branch)),
}
const supplier: Kind = { what: 'an object with init', matches: value => isObject(value) && isFunction(value['init']) }
const stream: Kind = { what: 'a stream', matches: value => value instanceof StreamHandle }
const table: Kind = { what: 'a table', matches: value => value instanceof TableHandle }
const grouped: Kind = { what: 'a grouped stream', matches: value => value instanceof GroupedStreamHandle }
const joined: Kind = {
  what: 'a stream, a table or a global table',
  matches: value => stream.matches(value) || table.matches(value) || value instanceof GlobalTableHandle,
}
const mergerOrOptions: Kind = { what: 'a merger or options', matches: value => isFunction(value) || isObject(value) }
const selectorOrOptions: Kind = {
  what: 'a function or options',
  matches: value => options.matches(value) || isFunction(value),
}

/** What options are, wherever they are given; those of a sink only write. */
const OPTIONS: Readonly<Record<string, Kind>> = {
  name: text,
  store: text,
  stores,
  key: serde,
  value: serde,
  otherValue: serde,
  timestamp: step,
  partitioner: step,
  merge: step,
  versioned: object,
  late: object,
}
const SINK_OPTIONS = { ...OPTIONS, key: serializer, value: serializer }

const given: Argument = ['options', options]
const required: Argument = ['options', object]
const withValue: Argument = ['options', object, { value: serde }]
const withSerdes: Argument = ['options', object, { key: serde, value: serde }]
const tableJoin: readonly Argument[] = [['other', table], ['joiner', step], given]
const foreignKeyJoin: readonly Argument[] = [['other', table], ['foreignKey', step], ['joiner', step], required]

type Methods = Readonly<Record<string, readonly Argument[]>>

/** The methods of the DSL by the class behind them, with what each takes. */
export const CHECKED: readonly (readonly [name: string, type: { readonly prototype: object }, methods: Methods])[] = [
  [
    'StreamsBuilder',
    BuilderHandle,
    {
      stream: [['topics', topics], given],
      table: [['topic', text], withSerdes],
      globalTable: [['topic', text], withSerdes],
      addStateStore: [['store', store]],
    },
  ],
  [
    'KStream',
    StreamHandle,
    {
      filter: [['predicate', step], given],
      filterNot: [['predicate', step], given],
      map: [['mapper', step], given],
      mapValues: [['mapper', step], given],
      flatMap: [['mapper', step], given],
      flatMapValues: [['mapper', step], given],
      selectKey: [['selector', step], given],
      peek: [['action', step], given],
      foreach: [['action', step], given],
      merge: [['other', stream], given],
      split: [['branches', branches], given],
      dedupe: [['idOf', step], required],
      withSerdes: [['serdes', object]],
      repartition: [given],
      to: [['topic', topic], given],
      toTable: [given],
      groupByKey: [given],
      groupBy: [['selector', step], required],
      join: [
        ['other', joined],
        ['joiner', step],
      ],
      leftJoin: [
        ['other', joined],
        ['joiner', step],
      ],
      outerJoin: [['other', stream], ['joiner', step], required],
      process: [['supplier', supplier]],
      processValues: [['supplier', supplier]],
    },
  ],
  [
    'KGroupedStream',
    GroupedStreamHandle,
    {
      count: [given],
      reduce: [['reducer', step], given],
      aggregate: [['initializer', step], ['aggregator', step], withValue],
      windowedBy: [['windows', object], given],
      cogroup: [['aggregator', step]],
    },
  ],
  [
    'WindowedKStream',
    WindowedStreamHandle,
    {
      count: [given],
      reduce: [['reducer', step], given],
      aggregate: [
        ['initializer', step],
        ['aggregator', step],
        ['merger', mergerOrOptions],
      ],
    },
  ],
  [
    'CogroupedKStream',
    CogroupedHandle,
    {
      cogroup: [
        ['other', grouped],
        ['aggregator', step],
      ],
      aggregate: [['initializer', step], withValue],
      windowedBy: [['windows', object], given],
    },
  ],
  [
    'WindowedCogroupedKStream',
    WindowedCogroupedHandle,
    {
      aggregate: [
        ['initializer', step],
        ['merger', mergerOrOptions],
      ],
    },
  ],
  [
    'KTable',
    TableHandle,
    {
      filter: [['predicate', step], given],
      filterNot: [['predicate', step], given],
      mapValues: [['mapper', step], given],
      transformValues: [['transformer', step], given],
      join: tableJoin,
      leftJoin: tableJoin,
      outerJoin: tableJoin,
      foreignKeyJoin,
      foreignKeyLeftJoin: foreignKeyJoin,
      toStream: [['selector', selectorOrOptions], given],
      groupBy: [['selector', step], withSerdes],
      suppress: [required],
      withSerdes: [['serdes', object]],
    },
  ],
  [
    'KGroupedTable',
    GroupedTableHandle,
    {
      count: [given],
      reduce: [['adder', step], ['subtractor', step], given],
      aggregate: [['initializer', step], ['adder', step], ['subtractor', step], withValue],
    },
  ],
]

let areChecked = false

/** Makes the methods of the DSL look at their arguments. Kafka Streams: `Objects.requireNonNull` at the head of each. */
export function checkArguments(): void {
  if (areChecked) return
  areChecked = true
  for (const [name, type, methods] of CHECKED)
    for (const [method, parameters] of Object.entries(methods))
      checkMethod(`${name}.${method}`, type.prototype, method, parameters)
}

function checkMethod(title: string, prototype: object, method: string, parameters: readonly Argument[]): void {
  const original: unknown = Reflect.get(prototype, method)
  assert(typeof original === 'function', 'only methods are checked', { method })
  const value = function (this: unknown, ...values: readonly unknown[]): unknown {
    checkValues(title, parameters, values)
    const result: unknown = Reflect.apply(original, this, values)
    return result
  }
  Reflect.defineProperty(prototype, method, { value, configurable: true, writable: true })
}

function checkValues(title: string, parameters: readonly Argument[], values: readonly unknown[]): void {
  const known = title === 'KStream.to' ? SINK_OPTIONS : OPTIONS
  for (const [at, value] of values.entries()) {
    // The joiner of a join, or its selector, and the merger of sessions stand before the options.
    if (parameters[at] === undefined && at > 0 && !options.matches(value) && !isFunction(value))
      refuse(title, 'options', options, value)
    if (isOptions(value) && !isSpecial(parameters[at])) checkOptions(title, known, value)
  }
  for (const [at, [name, kind, needed = {}]] of parameters.entries()) {
    const value = values[at]
    if (!kind.matches(value)) refuse(title, name, kind, value)
    if (kind === mergerOrOptions) checkResult(title, isFunction(value) ? values[at + 1] : value)
    // A global table is joined under a key of its own choice, which comes before the joiner.
    if (value instanceof GlobalTableHandle && !isFunction(values[2])) refuse(title, 'joiner', step, values[2])
    if (!isObject(value)) continue
    for (const [option, of] of Object.entries(needed))
      if (value[option] === undefined) refuse(title, option, of, undefined)
  }
}

/** The options of an aggregate in windows, which decide the type of its result. */
function checkResult(title: string, written: unknown): void {
  if (!isObject(written)) refuse(title, 'options', object, written)
  if (written['value'] === undefined) refuse(title, 'value', serde, undefined)
}

/** Branches and stores have names of the user's own, or of their own kind. */
function isSpecial(parameter: Argument | undefined): boolean {
  return parameter !== undefined && [branches, store].includes(parameter[1])
}

function isOptions(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && !('parts' in value) && !(value instanceof GlobalTableHandle)
}

function checkOptions(
  title: string,
  known: Readonly<Record<string, Kind>>,
  value: Readonly<Record<string, unknown>>,
): void {
  for (const [name, kind] of Object.entries(known)) {
    const option = value[name]
    if (option !== undefined && !kind.matches(option)) refuse(title, name, kind, option)
  }
}

function refuse(title: string, name: string, { what }: Kind, value: unknown): never {
  throw new MillraceError('TOPOLOGY_INVALID', {
    what: `${title}: "${name}" is ${what}, got ${textOf(value)}.`,
    action: 'Give the method what docs/dsl.md says.',
  })
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80))
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`
  if (Array.isArray(value)) return 'a list'
  for (const [name, type] of CHECKED) {
    const { prototype } = type
    if (typeof value === 'object' && value !== null && Object.prototype.isPrototypeOf.call(prototype, value))
      return `a ${name}`
  }
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
