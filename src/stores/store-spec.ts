import type { AnySerde, Serde } from '../serdes/serde.ts'
import type { KeyValueStore, ValueAndTimestamp } from './store-types.ts'

declare const storeType: unique symbol

/** How a state store is kept. Kafka Streams: `Materialized`, `StoreBuilder`. */
export interface StoreEngineOptions {
  /** Where it lives. @default the application's `stores.default` (`'memory'`). Kafka Streams: `withStoreType`, `dsl.store.suppliers.class` */
  storeType?: 'memory'
  /** Whether changes go to a changelog topic; an object sets properties of that topic. @default true. Kafka Streams: `withLoggingEnabled/Disabled` */
  logging?: boolean | Readonly<Record<string, string>>
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

/** Whether a key-value store shows user code the time of its entries. */
export type StoreKind = 'keyValue' | 'timestampedKeyValue'

/** What the graph knows of a store. */
export interface StoreDefinition {
  readonly name: string
  readonly kind: StoreKind
  readonly key: AnySerde
  readonly value: AnySerde
  readonly options: StoreEngineOptions
}

/** A spec as `keyValueStore` makes it; the graph recognises it by its class. */
export class DefinedStore<S> implements StoreSpec<S> {
  readonly definition: StoreDefinition

  constructor(definition: StoreDefinition) {
    this.definition = definition
  }

  get name(): string {
    return this.definition.name
  }
}

/** A key-value store of your own. Kafka Streams: `Stores.keyValueStoreBuilder`. */
export function keyValueStore<K, V>(name: string, options: KeyValueStoreOptions<K, V>): StoreSpec<KeyValueStore<K, V>> {
  const { key, value, ...engine } = options
  return new DefinedStore({ name, kind: 'keyValue', key, value, options: engine })
}

/** A key-value store that keeps a timestamp with each value. Kafka Streams: `Stores.timestampedKeyValueStoreBuilder`. */
export function timestampedKeyValueStore<K, V>(
  name: string,
  options: KeyValueStoreOptions<K, V>,
): StoreSpec<KeyValueStore<K, ValueAndTimestamp<V>>> {
  const { key, value, ...engine } = options
  return new DefinedStore({ name, kind: 'timestampedKeyValue', key, value, options: engine })
}
