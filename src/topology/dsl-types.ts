import type { RecordContext } from '../model/record.ts'
import type { AnySerde, Serde } from '../serdes/serde.ts'
import type { StoreSpec, StoreSpecs, StoresOf } from '../stores/store-spec.ts'
import type { ReadonlyKeyValueStore, ValueAndTimestamp } from '../stores/store-types.ts'
import type { kind, missing, row } from './brand.ts'
import type {
  KeySerdeOption,
  Mapper,
  MissingSerde,
  NameOptions,
  Predicate,
  Present,
  StoreOptions,
  ValueSerdeOption,
  ValueStoreOptions,
} from './options.ts'
import type { OutputOf } from './processor.ts'

/**
 * The conditions of `split`, tried in order of appearance; one `'default'` takes what no condition took. JavaScript puts
 * names that are whole numbers first, in ascending order.
 */
export type Branches<K, V> = Readonly<
  Record<string, Predicate<K, V> | ((value: V, key: K, record: RecordContext) => value is V) | 'default'>
>

/** The type of a branch: a type guard narrows the value. */
export type BranchValue<V, B> = B extends ((value: V, ...rest: never) => value is infer S extends V) ? S : V

/** The serdes still missing once those in `S` are given. */
export type StillMissing<M extends MissingSerde, KS, VS> =
  | (KS extends AnySerde ? never : Extract<M, 'no key serde'>)
  | (VS extends AnySerde ? never : Extract<M, 'no value serde'>)

/** Serdes of a stream-stream join: those that are not known yet. Kafka Streams: `StreamJoined.with(key, value, otherValue)`. */
export type StreamJoinSerdes<K, V, VO, M extends MissingSerde, MO extends MissingSerde> = KeySerdeOption<
  K,
  Present<K>,
  M | Extract<MO, 'no key serde'>
> &
  ValueSerdeOption<V, Present<V>, M> &
  ('no value serde' extends MO
    ? { /** Serde of the other stream's value. */ otherValue: Serde<Present<VO>> }
    : { /** Serde of the other stream's value. @default the one already known */ otherValue?: Serde<Present<VO>> })

/** Checks that a serde can write the key it is given for. */
export type KeyWriter<K> = { readonly serialize: (value: Present<K>, context: never) => Uint8Array }

/** Checks that a serde can write the value it is given for. */
export type ValueWriter<V> = { readonly serialize: (value: Present<V>, context: never) => Uint8Array }

/** The type after writing with a serde and reading back: the serde's, plus null if null was possible. */
export type Rewritten<T, S> = S extends AnySerde ? Exclude<OutputOf<S, T>, null> | Extract<T, null> : T

/** Options of a table step that keeps its result in a store when `store` is named. Kafka Streams: `Named`, `Materialized`. */
export type TableStepOptions<V, M extends MissingSerde> =
  | (NameOptions & { store?: never })
  | (StoreOptions & { /** Name of the store; without one nothing is kept. */ store: string } & ValueSerdeOption<
        V,
        V,
        M
      >)

/** What a stream has to know of a table to join it: any `KTable`. */
export interface TableSide<out K, out V, out Missing extends MissingSerde = MissingSerde> {
  /** Tells streams and tables apart in error messages. */
  readonly [kind]: 'a KTable'
  /** Its types. */
  readonly [row]: readonly [key: K, value: V]
  /** The serde still to be given. */
  readonly [missing]: Missing
}

/** What a stream has to know of a global table to join it: any `GlobalKTable`. */
export interface GlobalTableSide<out K, out V> {
  /** Tells streams and tables apart in error messages. */
  readonly [kind]: 'a GlobalKTable: joining it needs a key selector'
  /** Its types. */
  readonly [row]: readonly [key: K, value: V]
}

/** A table every instance holds in full; joined under any key, without co-partitioning. Kafka Streams: `GlobalKTable`. */
export interface GlobalKTable<K, V> extends GlobalTableSide<K, V> {
  /** The store behind it, for a processor's `stores`. Kafka Streams: `queryableStoreName()`. */
  readonly store: StoreSpec<ReadonlyKeyValueStore<K, ValueAndTimestamp<V>>>
}

/** Options of a foreign-key join; the result is kept only if `store` is named. Kafka Streams: `TableJoined`, `Materialized`. */
export type ForeignKeyJoinOptions<VR> = ValueStoreOptions<VR>

/** Makes the function that transforms values, once per task. Kafka Streams: `ValueTransformerWithKeySupplier`. */
export type TableTransformer<K, V, VR, S extends StoreSpecs> = (context: {
  readonly stores: StoresOf<S>
}) => Mapper<K, V | null, VR | null>
