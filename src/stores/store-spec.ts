import { parseDurationMs, type Duration } from '../model/duration.ts'
import { MillraceError } from '../model/errors.ts'
import { isSerde } from '../serdes/is-serde.ts'
import type { AnySerde, Serde } from '../serdes/serde.ts'
import type {
  KeyValueStore,
  SessionStore,
  ValueAndTimestamp,
  VersionedKeyValueStore,
  WindowStore,
} from './store-types.ts'

declare const storeType: unique symbol

/** How a state store is kept. Kafka Streams: `Materialized`, `StoreBuilder`. */
export interface StoreEngineOptions {
  /** Where it lives. @default the application's `stores.default` (`'memory'`). Kafka Streams: `withStoreType`, `dsl.store.suppliers.class` */
  storeType?: 'memory'
  /** Whether changes go to a changelog topic; an object sets properties of that topic. @default true. Kafka Streams: `withLoggingEnabled/Disabled` */
  logging?: boolean | Readonly<Record<string, string>>
  /** Whether the application's cache holds back updates until commit. @default true for results when `statestore.cache.max.bytes` > 0, false for stores of your own. Kafka Streams: `withCachingEnabled/Disabled` */
  caching?: boolean
  /** Most bytes of keys and values a task's store in memory may hold; more is an error `STORE_FULL`. @default no bound. Kafka Streams: none */
  maxBytes?: number
}

/**
 * A named store and how it is built. Give the same object to several processors and they share the store.
 * Kafka Streams: `StoreBuilder`.
 */
export interface StoreSpec<out S> {
  /** Name; decides the changelog topic `<application.id>-<name>-changelog`. */
  readonly name: string
  /** The type of the store a processor gets; exists only in types. */
  readonly [storeType]?: S
}

/** The stores of a processor by the name it uses for them. */
export type StoreSpecs = Readonly<Record<string, StoreSpec<unknown>>>

/** The stores a processor is handed, typed by their specs. */
export type StoresOf<S extends StoreSpecs> = { readonly [N in keyof S]: S[N] extends StoreSpec<infer T> ? T : never }

/** Options of a user's key-value store. */
export interface KeyValueStoreOptions<K, V> extends StoreEngineOptions {
  /** Serde of the keys. */
  key: Serde<K>
  /** Serde of the values. */
  value: Serde<V>
}

/** Options of a user's window store. */
export interface WindowStoreOptions<K, V> extends KeyValueStoreOptions<K, V> {
  /** Size of the windows (decides `end` in scans). */
  windowSize: Duration
  /** How long entries are kept; at least the size. */
  retention: Duration
  /** Keep every put of the same key and start; such a store ignores nulls. @default false */
  retainDuplicates?: boolean
}

/** Options of a user's session store. */
export interface SessionStoreOptions<K, V> extends KeyValueStoreOptions<K, V> {
  /** How long sessions are kept after their end. */
  retention: Duration
}

/** Options of a user's versioned store. */
export interface VersionedStoreOptions<K, V> extends KeyValueStoreOptions<K, V> {
  /** How far back versions can be read and late ones are taken. */
  historyRetention: Duration
  /** Size of the JVM's segments of old versions; a store in memory has none. @default max(historyRetention / 2, 60 s) */
  segmentInterval?: Duration
}

/** What a store keeps, and whether it shows user code the time of its entries. */
export type StoreKind =
  'keyValue' | 'timestampedKeyValue' | 'window' | 'timestampedWindow' | 'session' | 'suppress' | 'versioned'

/** What the graph knows of a store. */
export interface StoreDefinition {
  readonly name: string
  readonly kind: StoreKind
  readonly key: AnySerde
  readonly value: AnySerde
  readonly options: StoreEngineOptions
  /** How long entries are kept, in ms; of window, session and versioned stores. */
  readonly retentionMs?: number | undefined
  /** Size of the windows, in ms; of window stores. */
  readonly windowSizeMs?: number | undefined
  /** The windows it is kept in, in words. */
  readonly windows?: string | undefined
  /** Whether a window store keeps every put. @default false */
  readonly retainsDuplicates?: boolean | undefined
  /**
   * Whether it is ordered by time for final results: entries of exactly the retention's age are kept, too. Kafka Streams:
   * `RocksDBTimeOrderedWindowStore`. @default false
   */
  readonly isTimeOrdered?: boolean | undefined
  /** Whether it has no cache, whatever its options say: final results of sessions and sliding windows. @default false */
  readonly isUncached?: boolean | undefined
  /** Whether every changelog record carries the headers of the record that wrote. @default false */
  readonly logsHeaders?: boolean | undefined
  /** Whether it is a store of a processor, and not of an operator. @default false */
  readonly ofUser?: boolean | undefined
}

/** Known to every copy of millrace in the process. */
const MARK = Symbol.for('millrace.store')

/** A spec as `keyValueStore` makes it. */
export class DefinedStore<S> implements StoreSpec<S> {
  readonly [MARK] = true
  readonly definition: StoreDefinition

  constructor(definition: StoreDefinition) {
    this.definition = { ...definition, ofUser: true }
  }

  get name(): string {
    return this.definition.name
  }
}

/** Whether a spec says what its store is, and not only whose. */
export function isDefined<S>(spec: StoreSpec<S>): spec is DefinedStore<S> {
  return MARK in spec
}

/** A key-value store of your own. Kafka Streams: `Stores.keyValueStoreBuilder`. */
export function keyValueStore<K, V>(name: string, options: KeyValueStoreOptions<K, V>): StoreSpec<KeyValueStore<K, V>> {
  const { key, value, ...engine } = checked('keyValueStore', name, options)
  return new DefinedStore({ name, kind: 'keyValue', key, value, options: { caching: false, ...engine } })
}

/** A key-value store that keeps a timestamp with each value. Kafka Streams: `Stores.timestampedKeyValueStoreBuilder`. */
export function timestampedKeyValueStore<K, V>(
  name: string,
  options: KeyValueStoreOptions<K, V>,
): StoreSpec<KeyValueStore<K, ValueAndTimestamp<V>>> {
  const { key, value, ...engine } = checked('timestampedKeyValueStore', name, options)
  return new DefinedStore({ name, kind: 'timestampedKeyValue', key, value, options: { caching: false, ...engine } })
}

/**
 * A window store of your own. Kafka Streams: `Stores.windowStoreBuilder`.
 *
 * @throws MillraceError `USAGE` when the retention is shorter than a window
 */
export function windowStore<K, V>(name: string, options: WindowStoreOptions<K, V>): StoreSpec<WindowStore<K, V>> {
  const { key, value, windowSize, retention, retainDuplicates, ...engine } = checked('windowStore', name, options)
  const windowSizeMs = durationOf(name, 'windowSize', windowSize)
  const retentionMs = durationOf(name, 'retention', retention)
  if (retentionMs < windowSizeMs) {
    throw new MillraceError('USAGE', {
      node: name,
      what: `The store ${name} keeps entries for ${String(retentionMs)} ms, shorter than its windows of ${String(windowSizeMs)} ms.`,
    })
  }
  const retainsDuplicates = retainDuplicates ?? false
  return new DefinedStore({
    name,
    kind: 'window',
    key,
    value,
    options: { caching: false, ...engine },
    windowSizeMs,
    retentionMs,
    retainsDuplicates,
  })
}

/** A session store of your own. Kafka Streams: `Stores.sessionStoreBuilder`. */
export function sessionStore<K, V>(name: string, options: SessionStoreOptions<K, V>): StoreSpec<SessionStore<K, V>> {
  const { key, value, retention, ...engine } = checked('sessionStore', name, options)
  const retentionMs = durationOf(name, 'retention', retention)
  return new DefinedStore({ name, kind: 'session', key, value, options: { caching: false, ...engine }, retentionMs })
}

/** A versioned store of your own. Kafka Streams: `Stores.versionedKeyValueStoreBuilder`. */
export function versionedKeyValueStore<K, V>(
  name: string,
  options: VersionedStoreOptions<K, V>,
): StoreSpec<VersionedKeyValueStore<K, V>> {
  const {
    key,
    value,
    historyRetention,
    segmentInterval: _segmentInterval,
    ...engine
  } = checked('versionedKeyValueStore', name, options)
  const retentionMs = durationOf(name, 'historyRetention', historyRetention)
  return new DefinedStore({ name, kind: 'versioned', key, value, options: { caching: false, ...engine }, retentionMs })
}

/** For callers without types: a serde that is missing would only be missed by the first record. */
function checked<O extends object>(factory: string, name: string, options: O): O {
  const [text, given]: readonly unknown[] = [name, options]
  if (typeof text !== 'string' || text === '') refuse(factory, text, 'the name of a store is a text')
  if (typeof given !== 'object' || given === null) refuse(factory, text, 'its options are an object')
  for (const side of ['key', 'value'] as const) {
    const serde: unknown = Reflect.get(options, side)
    if (!isSerde(serde))
      refuse(factory, text, `"${side}" is a serde, got ${serde === undefined ? 'none' : typeof serde}`)
  }
  return options
}

function refuse(factory: string, name: unknown, what: string): never {
  throw new MillraceError('USAGE', {
    what: `${factory}(${typeof name === 'string' ? JSON.stringify(name) : String(name)}): ${what}.`,
    action: `Write ${factory}('name', { key: string, value: json() }), with the serdes of the store's keys and values.`,
  })
}

function durationOf(store: string, option: string, duration: Duration): number {
  const ms = parseDurationMs(duration)
  if (ms !== undefined) return ms
  throw new MillraceError('USAGE', {
    node: store,
    what: `${option} of the store ${store} is a duration such as '1m' or 60000, got ${String(duration)}.`,
  })
}
