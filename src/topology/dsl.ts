import type { RecordContext } from '../model/record.ts'
import type { Windowed } from '../model/windowed.ts'
import type { AnySerde, Serde } from '../serdes/serde.ts'
import type { StoreSpec, StoreSpecs } from '../stores/store-spec.ts'
import type { ReadonlyKeyValueStore, ValueAndTimestamp } from '../stores/store-types.ts'
import type { kind, missing, row } from './brand.ts'
import type { CogroupedKStream, GroupedSide, WriteTheAggregateType } from './cogroup-dsl.ts'
import type {
  Branches,
  BranchValue,
  ForeignKeyJoinOptions,
  GlobalTableSide,
  KeyWriter,
  Rewritten,
  StillMissing,
  StreamJoinSerdes,
  TableSide,
  TableStepOptions,
  TableTransformer,
  ValueWriter,
} from './dsl-types.ts'
import type {
  Aggregator,
  DedupeOptions,
  Held,
  Initializer,
  Joiner,
  KeySerdeOption,
  Mapper,
  Merger,
  MissingSerde,
  NameOptions,
  OptionsArg,
  Predicate,
  Present,
  RepartitionOptions,
  RepartitionSerdes,
  StreamJoinOptions,
  StoreOptions,
  SuppressUntilTimeLimit,
  SuppressUntilWindowCloses,
  Sync,
  TableJoinOptions,
  ToOptions,
  ValueSerdeOption,
  ValueStoreOptions,
  VersionedOption,
  WindowedStoreOptions,
  WindowedValueStoreOptions,
} from './options.ts'
import type { SessionWindows, TimeWindows, WindowedByOptions } from './windows.ts'
import type { FixedKeyProcessorSupplier, OutputOf, ProcessorSupplier } from './processor.ts'

/**
 * A stream of records. `K` and `V` contain `null` only where nulls can occur. `Missing` lists the serdes nobody has given
 * yet (`never` = none): the next step that writes bytes asks for them. Kafka Streams: `KStream<K, V>`.
 */
export interface KStream<K, V, Missing extends MissingSerde = never> {
  /** Tells streams and tables apart in error messages. */
  readonly [kind]: 'a KStream: joining it needs { within, grace }'
  /** Its types. */
  readonly [row]: readonly [key: K, value: V]
  /** The serdes still to be given. */
  readonly [missing]: Missing

  /** Keeps the records that fulfil the condition; a type guard narrows the value. Kafka Streams: `filter`. */
  filter<S extends V>(
    predicate: (value: V, key: K, record: RecordContext) => value is S,
    options?: NameOptions,
  ): KStream<K, S, Missing>
  /** Keeps the records that fulfil the condition. Kafka Streams: `filter`. */
  filter(predicate: Predicate<K, V>, options?: NameOptions): KStream<K, V, Missing>
  /** Drops the records that fulfil the condition. Kafka Streams: `filterNot`. */
  filterNot(predicate: Predicate<K, V>, options?: NameOptions): KStream<K, V, Missing>
  /** New key and value, as `[key, value]`; a later stateful step repartitions. Kafka Streams: `map`. */
  map<KR, VR>(
    mapper: (value: V, key: K, record: RecordContext) => readonly [key: KR, value: Sync<VR>],
    options?: NameOptions,
  ): KStream<KR, VR, MissingSerde>
  /** New value, same key. Kafka Streams: `mapValues`. */
  mapValues<VR>(mapper: Mapper<K, V, VR>, options?: NameOptions): KStream<K, VR, Missing | 'no value serde'>
  /** Any number of `[key, value]` per record. Kafka Streams: `flatMap`. */
  flatMap<KR, VR>(
    mapper: (value: V, key: K, record: RecordContext) => Iterable<readonly [key: KR, value: VR]>,
    options?: NameOptions,
  ): KStream<KR, VR, MissingSerde>
  /** Any number of values per record, same key. Kafka Streams: `flatMapValues`. */
  flatMapValues<VR>(
    mapper: (value: V, key: K, record: RecordContext) => Iterable<VR>,
    options?: NameOptions,
  ): KStream<K, VR, Missing | 'no value serde'>
  /** New key, same value; a later stateful step repartitions. Kafka Streams: `selectKey`. */
  selectKey<KR>(selector: Mapper<K, V, KR>, options?: NameOptions): KStream<KR, V, Missing | 'no key serde'>
  /** Looks at each record and passes it on. Kafka Streams: `peek`. */
  peek<R>(action: Mapper<K, V, R>, options?: NameOptions): KStream<K, V, Missing>
  /** Looks at each record; ends the stream. Kafka Streams: `foreach`. */
  foreach<R>(action: Mapper<K, V, R>, options?: NameOptions): void
  /** One stream of this and others of the same type, in no particular order between them; this one's serdes hold. Kafka Streams: `merge`. */
  merge<KO extends K, VO extends V, MO extends MissingSerde>(
    other: KStream<KO, VO, MO>,
    options?: NameOptions,
  ): KStream<K, V, Missing>
  /** Sends each record to the first branch whose condition holds; without a `'default'` branch the rest is dropped. Kafka Streams: `split().branch(…)`. */
  split<const B extends Branches<K, V>>(
    branches: B,
    options?: NameOptions,
  ): { readonly [N in keyof B]: KStream<K, BranchValue<V, B[N]>, Missing> }
  /** Drops a record whose id was seen for the same key within the time; the first one passes. Numbers are whole and, unless bigint, below 2^53; `1` is not `'1'`. Kafka Streams: none (KIP-655). */
  dedupe(
    id: (value: Present<V>, key: Present<K>, record: RecordContext) => string | number | bigint | null,
    options: DedupeOptions,
  ): KStream<Present<K>, Present<V>, Missing>
  /** States serdes that a later step would ask for; the serde decides the type. Kafka Streams: the `withKeySerde`, `withValueSerde` of each option class. */
  withSerdes<KS extends AnySerde | undefined = undefined, VS extends AnySerde | undefined = undefined>(serdes: {
    key?: KS & KeyWriter<K>
    value?: VS & ValueWriter<V>
  }): KStream<Rewritten<K, KS>, Rewritten<V, VS>, StillMissing<Missing, KS, VS>>
  /** Writes to a topic and reads it back, with a partition count of your choice. Kafka Streams: `repartition`. */
  repartition<KR = Present<K>, VR = Present<V>>(
    ...serdes: OptionsArg<RepartitionOptions<K, V> & KeySerdeOption<K, KR, Missing> & ValueSerdeOption<V, VR, Missing>>
  ): KStream<Held<KR> | Extract<K, null>, Held<VR> | Extract<V, null>>
  /** Writes to a topic, or to the topic chosen for each record. Kafka Streams: `to(String | TopicNameExtractor, Produced)`. */
  to(
    topic: string | ((value: V, key: K, record: RecordContext) => string),
    ...serdes: OptionsArg<ToOptions<K, V, Missing>>
  ): void

  /** The latest value per key; null values delete, null keys are dropped. Kafka Streams: `toTable`. */
  toTable<KR = Present<K>, VR = Present<V>>(
    ...serdes: OptionsArg<
      StoreOptions & VersionedOption & KeySerdeOption<K, KR, Missing> & ValueSerdeOption<V, VR, Missing>
    >
  ): KTable<Held<KR>, Held<VR>>
  /** Groups by the present key; null keys are dropped. Kafka Streams: `groupByKey`, `Grouped`. */
  groupByKey<KR = Present<K>, VR = Present<V>>(
    ...serdes: OptionsArg<NameOptions & RepartitionSerdes<K, KR, V, VR, Missing>>
  ): KGroupedStream<
    Held<KR>,
    Held<VR> | Extract<V, null>,
    'no key serde' extends Missing ? never : Extract<Missing, 'no value serde'>
  >
  /** Groups by a new key through a repartition topic; a null key drops the record. The serde decides the key's type. Kafka Streams: `groupBy`, `Grouped`. */
  groupBy<KR, VR = Present<V>>(
    selector: (value: V, key: K, record: RecordContext) => Held<KR> | null,
    options: NameOptions & { /** Serde of the new key. */ key: Serde<KR> } & ValueSerdeOption<V, VR, Missing>,
  ): KGroupedStream<KR, Held<VR> | Extract<V, null>>

  /** Each record with the table's present value; no result without one. Kafka Streams: `join(KTable, ValueJoiner, Joined)`. */
  join<VT, VR, MT extends MissingSerde>(
    table: TableSide<Present<K>, VT, MT>,
    joiner: Joiner<Present<K>, Present<V>, VT, VR>,
    ...serdes: OptionsArg<TableJoinOptions & RepartitionSerdes<K, Present<K>, V, Present<V>, Missing>>
  ): KStream<Present<K>, VR, 'no value serde'>

  /** Each record with the value of a global table under a key of your choice (null = no match). Kafka Streams: `join(GlobalKTable, KeyValueMapper, ValueJoiner)`. */
  join<KG, VG, VR>(
    table: GlobalTableSide<KG, VG>,
    selector: (value: V, key: K, record: RecordContext) => Held<KG> | null,
    joiner: Joiner<K, Present<V>, VG, VR>,
    options?: NameOptions,
  ): KStream<K, VR, Missing | 'no value serde'>
  /** Pairs of records that are close in time. Kafka Streams: `join(KStream, ValueJoiner, JoinWindows, StreamJoined)`. */
  join<KO extends Present<K> | null, VO, VR, MO extends MissingSerde>(
    other: KStream<KO, VO, MO>,
    joiner: Joiner<Present<K>, Present<V>, Present<VO>, VR>,
    options: StreamJoinOptions & StreamJoinSerdes<K, V, VO, Missing, MO>,
  ): KStream<Present<K>, VR, 'no value serde'>

  /** Each record with the table's present value, or null. Kafka Streams: `leftJoin(KTable, ValueJoiner, Joined)`. */
  leftJoin<VT, VR, MT extends MissingSerde>(
    table: TableSide<Present<K>, VT, MT>,
    joiner: Joiner<K, Present<V>, VT | null, VR>,
    ...serdes: OptionsArg<TableJoinOptions & RepartitionSerdes<K, Present<K>, V, Present<V>, Missing>>
  ): KStream<K, VR, 'no value serde'>
  /** Each record with the value of a global table, or null. Kafka Streams: `leftJoin(GlobalKTable, KeyValueMapper, ValueJoiner)`. */
  leftJoin<KG, VG, VR>(
    table: GlobalTableSide<KG, VG>,
    selector: (value: V, key: K, record: RecordContext) => Held<KG> | null,
    joiner: Joiner<K, Present<V>, VG | null, VR>,
    options?: NameOptions,
  ): KStream<K, VR, Missing | 'no value serde'>
  /** As `join`, and a left record without partner gives a result with null when its time is over. Kafka Streams: `leftJoin(KStream, …)`. */
  leftJoin<KO extends Present<K> | null, VO, VR, MO extends MissingSerde>(
    other: KStream<KO, VO, MO>,
    joiner: Joiner<K, Present<V>, Present<VO> | null, VR>,
    options: StreamJoinOptions & StreamJoinSerdes<K, V, VO, Missing, MO>,
  ): KStream<K, VR, 'no value serde'>
  /** As `leftJoin`, for unmatched records of both sides. Kafka Streams: `outerJoin(KStream, …)`. */
  outerJoin<KO extends Present<K> | null, VO, VR, MO extends MissingSerde>(
    other: KStream<KO, VO, MO>,
    joiner: Joiner<K | KO, Present<V> | null, Present<VO> | null, VR>,
    options: StreamJoinOptions & StreamJoinSerdes<K, V, VO, Missing, MO>,
  ): KStream<K | KO, VR, 'no value serde'>

  /**
   * A processor of your own that may change the key. Serdes given in it decide the output types; a side without one keeps
   * its type. Kafka Streams: `process(ProcessorSupplier, Named, String...)`.
   */
  process<
    S extends StoreSpecs = {},
    KS extends AnySerde | undefined = undefined,
    VS extends AnySerde | undefined = undefined,
  >(
    supplier: ProcessorSupplier<K, V, S, KS, VS>,
  ): KStream<OutputOf<KS, K>, OutputOf<VS, V>, StillMissing<Missing, KS, VS>>
  /** A processor that keeps the key, so nothing is repartitioned. Kafka Streams: `processValues(FixedKeyProcessorSupplier, …)`. */
  processValues<S extends StoreSpecs = {}, VS extends AnySerde | undefined = undefined>(
    supplier: FixedKeyProcessorSupplier<K, V, S, VS>,
  ): KStream<K, OutputOf<VS, V>, StillMissing<Missing, undefined, VS>>
}

/** A stream grouped by key. Null values are dropped (and counted). Kafka Streams: `KGroupedStream`. */
export interface KGroupedStream<in out K, in out V, Missing extends 'no value serde' = never> extends GroupedSide<
  K,
  V
> {
  /** Number of records per key. Kafka Streams: `count`. */
  count(options?: StoreOptions & VersionedOption): KTable<K, number>
  /** Combines the values of a key; the first value starts; null deletes. Kafka Streams: `reduce`. */
  reduce(
    reducer: (aggregate: Present<V>, value: Present<V>, key: K) => Present<V> | null,
    ...serdes: OptionsArg<StoreOptions & VersionedOption & ValueSerdeOption<V, Present<V>, Missing>>
  ): KTable<K, Present<V>>
  /** Builds an aggregate per key; the serde decides its type. Kafka Streams: `aggregate`. */
  aggregate<A>(
    initializer: Initializer<Held<A>>,
    aggregator: Aggregator<K, Present<V>, Held<A>>,
    options: ValueStoreOptions<A> & VersionedOption,
  ): KTable<K, A>
  /** Aggregates per key and window of time or session. Kafka Streams: `windowedBy(TimeWindows | SlidingWindows | UnlimitedWindows | SessionWindows)`, `emitStrategy`. */
  windowedBy<W extends TimeWindows | SessionWindows>(
    windows: W,
    options?: WindowedByOptions,
  ): W extends SessionWindows ? SessionWindowedKStream<K, V, Missing> : TimeWindowedKStream<K, V, Missing>
  /** Starts an aggregate that several grouped streams of the same key feed: `cogroup<Basket>(…)`. Kafka Streams: `cogroup`. */
  cogroup<A = WriteTheAggregateType>(
    aggregator: Aggregator<K, Present<V>, A>,
  ): CogroupedKStream<K, A, KTable<K, A>, KTable<Windowed<K>, A>>
}

/** What windows of time and sessions have in common. Null values reach the aggregator, as in the JVM (sliding windows drop them). */
export interface WindowedKStream<K, V, Missing extends 'no value serde' = never> {
  /** Number of records per key and window. Kafka Streams: `count`. */
  count(options?: WindowedStoreOptions): KTable<Windowed<K>, number>
  /** Combines the values of a key and window. Kafka Streams: `reduce`. */
  reduce(
    reducer: (aggregate: Present<V>, value: V, key: K) => Present<V> | null,
    ...serdes: OptionsArg<WindowedStoreOptions & ValueSerdeOption<V, Present<V>, Missing>>
  ): KTable<Windowed<K>, Present<V>>
}

/** A grouped stream in windows of time. Kafka Streams: `TimeWindowedKStream`. */
export interface TimeWindowedKStream<K, V, M extends 'no value serde' = never> extends WindowedKStream<K, V, M> {
  /** Builds an aggregate per key and window; the serde decides its type. Kafka Streams: `aggregate`. */
  aggregate<A>(
    initializer: Initializer<Held<A>>,
    aggregator: Aggregator<K, V, Held<A>>,
    options: WindowedValueStoreOptions<A>,
  ): KTable<Windowed<K>, A>
}

/** A grouped stream in sessions. Kafka Streams: `SessionWindowedKStream`. */
export interface SessionWindowedKStream<K, V, M extends 'no value serde' = never> extends WindowedKStream<K, V, M> {
  /** Builds an aggregate per session; `merger` joins two sessions that grow together. Kafka Streams: `aggregate(initializer, aggregator, Merger)`. */
  aggregate<A>(
    initializer: Initializer<Held<A>>,
    aggregator: Aggregator<K, V, Held<A>>,
    merger: Merger<K, Held<A>>,
    options: WindowedValueStoreOptions<A>,
  ): KTable<Windowed<K>, A>
}

/**
 * A table: the latest value per key. A value is never null here: a deletion is not a value, it reaches no mapper, and
 * `toStream()` shows it as null. `Missing` is `'no value serde'` while nobody has given one. Kafka Streams: `KTable<K, V>`.
 */
export interface KTable<K, V, Missing extends MissingSerde = never> extends TableSide<K, V, Missing> {
  /** The store behind the table, for a processor's `stores`; a build error `TABLE_NOT_MATERIALIZED` without one. Kafka Streams: `queryableStoreName()`. */
  readonly store: StoreSpec<ReadonlyKeyValueStore<K, ValueAndTimestamp<V>>>

  /** Keeps the entries that fulfil the condition; others become deletions. A type guard narrows the value. Kafka Streams: `filter`. */
  filter<S extends V>(
    predicate: (value: V, key: K, record: RecordContext) => value is S,
    options?: TableStepOptions<S, Missing>,
  ): KTable<K, S, Missing>
  /** Keeps the entries that fulfil the condition; others become deletions. Kafka Streams: `filter`. */
  filter(predicate: Predicate<K, V>, options?: TableStepOptions<V, Missing>): KTable<K, V, Missing>
  /** Drops the entries that fulfil the condition. Kafka Streams: `filterNot`. */
  filterNot(predicate: Predicate<K, V>, options?: TableStepOptions<V, Missing>): KTable<K, V, Missing>
  /** New value, kept in a store if named; null deletes. The serde decides the type. Kafka Streams: `mapValues(mapper, Materialized)`. */
  mapValues<VR>(mapper: Mapper<K, V, Held<VR> | null>, options: ValueStoreOptions<VR>): KTable<K, VR>
  /** New value; null deletes. Kafka Streams: `mapValues`. */
  mapValues<VR>(mapper: Mapper<K, V, VR>, options?: NameOptions): KTable<K, Exclude<VR, null>, 'no value serde'>
  /** New value by a function made once per task, with access to stores; it sees deletions as null. Kafka Streams: `transformValues`. */
  transformValues<VR, S extends StoreSpecs = {}>(
    transformer: TableTransformer<K, V, Held<VR>, S>,
    options: ValueStoreOptions<VR> & { stores?: S },
  ): KTable<K, VR>

  /** The table's updates as a stream under a new key; deletions are null. Kafka Streams: `toStream(KeyValueMapper)`. */
  toStream<KR>(
    selector: Mapper<K, V | null, KR>,
    options?: NameOptions,
  ): KStream<KR, V | null, Missing | 'no key serde'>
  /** The table's updates as a stream; deletions are null. Kafka Streams: `toStream`. */
  toStream(options?: NameOptions): KStream<K, V | null, Missing>
  /** Re-keys the table into groups through a repartition topic, as `[key, value]`; null as key leaves the entry out. The serdes decide the types. Kafka Streams: `groupBy`, `Grouped`. */
  groupBy<KR, VR>(
    selector: (value: V, key: K) => readonly [key: Held<KR> | null, value: Held<VR>],
    options: NameOptions & {
      /** Serde of the new key. */ key: Serde<KR>
      /** Serde of the new value. */ value: Serde<VR>
    },
  ): KGroupedTable<KR, VR>
  /** Holds back updates until the window closes, or for a time. Kafka Streams: `suppress`. */
  suppress(
    options: K extends Windowed<unknown> ? SuppressUntilWindowCloses | SuppressUntilTimeLimit : SuppressUntilTimeLimit,
  ): KTable<K, V, Missing>
  /** States the value serde that a later step would ask for. Kafka Streams: none. */
  withSerdes<VS extends AnySerde>(serdes: {
    value: VS & ValueWriter<V>
  }): KTable<K, Rewritten<V, VS>, StillMissing<Missing, undefined, VS>>

  /** Pairs of equal keys, kept in a store. Kafka Streams: `join(KTable, ValueJoiner, Materialized)`. */
  join<VO, VR, MO extends MissingSerde>(
    other: TableSide<K, VO, MO>,
    joiner: Joiner<K, V, VO, Held<VR> | null>,
    options: ValueStoreOptions<VR>,
  ): KTable<K, VR>
  /** Pairs of equal keys. Kafka Streams: `join(KTable, ValueJoiner)`. */
  join<VO, VR, MO extends MissingSerde>(
    other: TableSide<K, VO, MO>,
    joiner: Joiner<K, V, VO, VR>,
    options?: NameOptions,
  ): KTable<K, Exclude<VR, null>, 'no value serde'>
  /** All entries of this table with the other's value or null, kept in a store. Kafka Streams: `leftJoin(KTable, ValueJoiner, Materialized)`. */
  leftJoin<VO, VR, MO extends MissingSerde>(
    other: TableSide<K, VO, MO>,
    joiner: Joiner<K, V, VO | null, Held<VR> | null>,
    options: ValueStoreOptions<VR>,
  ): KTable<K, VR>
  /** All entries of this table with the other's value or null. Kafka Streams: `leftJoin(KTable, ValueJoiner)`. */
  leftJoin<VO, VR, MO extends MissingSerde>(
    other: TableSide<K, VO, MO>,
    joiner: Joiner<K, V, VO | null, VR>,
    options?: NameOptions,
  ): KTable<K, Exclude<VR, null>, 'no value serde'>
  /** All entries of either table, kept in a store. Kafka Streams: `outerJoin(KTable, ValueJoiner, Materialized)`. */
  outerJoin<VO, VR, MO extends MissingSerde>(
    other: TableSide<K, VO, MO>,
    joiner: Joiner<K, V | null, VO | null, Held<VR> | null>,
    options: ValueStoreOptions<VR>,
  ): KTable<K, VR>
  /** All entries of either table. Kafka Streams: `outerJoin(KTable, ValueJoiner)`. */
  outerJoin<VO, VR, MO extends MissingSerde>(
    other: TableSide<K, VO, MO>,
    joiner: Joiner<K, V | null, VO | null, VR>,
    options?: NameOptions,
  ): KTable<K, Exclude<VR, null>, 'no value serde'>

  /** Each entry with the other table's entry under a key found in the value (null = none). Both tables need their value serde. Kafka Streams: `join(KTable, foreignKeyExtractor, ValueJoiner)`. */
  foreignKeyJoin<KO, VO, VR>(
    this: KTable<K, V>,
    other: TableSide<KO, VO, never>,
    foreignKey: (value: V, key: K) => Held<KO> | null,
    joiner: Joiner<K, V, VO, Held<VR> | null>,
    options: ForeignKeyJoinOptions<VR>,
  ): KTable<K, VR>
  /** The same, with null where the other table has none. Kafka Streams: `leftJoin(KTable, foreignKeyExtractor, ValueJoiner)`. */
  foreignKeyLeftJoin<KO, VO, VR>(
    this: KTable<K, V>,
    other: TableSide<KO, VO, never>,
    foreignKey: (value: V, key: K) => Held<KO> | null,
    joiner: Joiner<K, V, VO | null, Held<VR> | null>,
    options: ForeignKeyJoinOptions<VR>,
  ): KTable<K, VR>
}

/** A table grouped by a new key: each change takes the old value out and puts the new one in. Kafka Streams: `KGroupedTable`. */
export interface KGroupedTable<K, V> {
  /** Number of entries per group. Kafka Streams: `count`. */
  count(options?: StoreOptions & VersionedOption): KTable<K, number>
  /** Combines the values of a group; `subtractor` undoes `adder`. Kafka Streams: `reduce`. */
  reduce(
    adder: (aggregate: V, value: V, key: K) => V | null,
    subtractor: (aggregate: V, value: V, key: K) => V | null,
    options?: StoreOptions & VersionedOption,
  ): KTable<K, V>
  /** Builds an aggregate per group; `subtractor` undoes `adder`. The serde decides its type. Kafka Streams: `aggregate`. */
  aggregate<A>(
    initializer: Initializer<Held<A>>,
    adder: Aggregator<K, V, Held<A>>,
    subtractor: Aggregator<K, V, Held<A>>,
    options: ValueStoreOptions<A> & VersionedOption,
  ): KTable<K, A>
}
