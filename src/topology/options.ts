import type { Duration, TimestampMs } from '../model/duration.ts'
import type { ErrorPolicies } from '../model/record-failure.ts'
import type { ConsumedRecordContext, RecordContext } from '../model/record.ts'
import type { AnySerde, Serde, Serializer } from '../serdes/serde.ts'
import type { StoreEngineOptions } from '../stores/store-spec.ts'

/** A side whose bytes nobody has described yet; appears as the last type argument of `KStream` and `KTable`, `never` when both are known. */
export type MissingSerde = 'no key serde' | 'no value serde'

/** `T` without null: what reaches an aggregation, a join or a table, which drop (and count) null keys. */
export type Present<T> = Exclude<T, null>

/** `T`, decided elsewhere in the call (by a serde); as `NoInfer<T>`, but shown as plain `T` in editors. */
export type Held<T> = [T] extends [infer U] ? U : never

/** A serde that can write an `In` and gives back an `Out`: `string` for `'paid' | 'open'`, widening the stream's type to what the bytes hold. */
export type SerdeFor<In, Out> = Serde<Out> & Serializer<Present<In>>

/** Shown in the error when a step returns a promise: steps are synchronous so that a record is one savepoint. */
export interface AsyncStep {
  readonly 'a step must be synchronous, it cannot return a promise': never
}
/** The result of a user's step; a promise is refused at compile time (and `STEP_RETURNED_PROMISE` at run time). */
export type Sync<R> = R extends PromiseLike<unknown> ? AsyncStep : R

/** A rest parameter that is optional when every option is. */
export type OptionsArg<O> = {} extends O ? [options?: O] : [missingSerdes: O]

/** Options of every operator. Kafka Streams: `Named`. */
export interface NameOptions {
  /** Name of the operator in `describe()` and metrics. @default numbered as StreamsBuilder does, e.g. `KSTREAM-FILTER-0000000003` */
  name?: string
}

/** A condition on a record; value first, because most need only it. Kafka Streams: `Predicate`. */
export type Predicate<K, V> = (value: V, key: K, record: RecordContext) => boolean
/** Makes one thing of a record. Kafka Streams: `ValueMapper`, `ValueMapperWithKey`, `KeyValueMapper`. */
export type Mapper<K, V, R> = (value: V, key: K, record: RecordContext) => Sync<R>
/** Joins two values. Kafka Streams: `ValueJoiner`, `ValueJoinerWithKey`. */
export type Joiner<K, L, R, VR> = (left: L, right: R, key: K) => Sync<VR>
/** Starts an aggregate. Kafka Streams: `Initializer`. */
export type Initializer<A> = () => A
/** Adds a value to an aggregate; null deletes it. Do not change `aggregate` in place. Kafka Streams: `Aggregator`. */
export type Aggregator<K, V, A> = (aggregate: A, value: V, key: K, record: RecordContext) => A | null
/** Joins the aggregates of two sessions. Kafka Streams: `Merger`. */
export type Merger<K, A> = (left: A, right: A, key: K) => A
/** Serde of a key: required while the stream has none, or when the bytes are to hold another type. */
export type KeySerdeOption<K, KR, M extends MissingSerde> = 'no key serde' extends M
  ? { /** Serde of the key. */ key: SerdeFor<K, KR> }
  : [Present<K>] extends [KR]
    ? { /** Serde of the key. @default the one already known */ key?: SerdeFor<K, KR> }
    : { /** Serde of the key. */ key: SerdeFor<K, KR> }
/** Serde of a value: required while the stream has none, or when the bytes are to hold another type. */
export type ValueSerdeOption<V, VR, M extends MissingSerde> = 'no value serde' extends M
  ? { /** Serde of the value. */ value: SerdeFor<V, VR> }
  : [Present<V>] extends [VR]
    ? { /** Serde of the value. @default the one already known */ value?: SerdeFor<V, VR> }
    : { /** Serde of the value. */ value: SerdeFor<V, VR> }
/** Serdes of a step that repartitions a re-keyed stream: the value's is asked for only once the key has changed. */
export type RepartitionSerdes<K, KR, V, VR, M extends MissingSerde> = KeySerdeOption<K, KR, M> &
  ValueSerdeOption<V, VR, 'no key serde' extends M ? M : never>

/** Gives the event time of a record in ms; a negative number or NaN is invalid. Kafka Streams: `TimestampExtractor`. */
export type TimestampExtractor<K, V> = (value: V, key: K, record: ConsumedRecordContext) => TimestampMs
/** What an invalid timestamp does: fail (`errors.deserialization`), skip (counted), or take the partition's time so far. Kafka Streams: `FailOnInvalidTimestamp`, `LogAndSkipOnInvalidTimestamp`, `UsePartitionTimeOnInvalidTimestamp`. */
export type InvalidTimestamp = 'fail' | 'skip' | 'partitionTime'

/** Where reading starts when no offset is committed. Kafka Streams: `AutoOffsetReset`. */
export type OffsetReset =
  'earliest' | 'latest' | 'none' | { /** That long before now, by wall clock. */ byDuration: Duration }

/** Options of every source. Kafka Streams: `Consumed`. */
export interface SourceOptions<K, V> extends NameOptions {
  /** Event time of a record. @default the record's own timestamp */
  timestamp?: TimestampExtractor<K, V>
  /** What an invalid timestamp does. @default 'fail' */
  onInvalidTimestamp?: InvalidTimestamp
  /** Where to start when no offset is committed. @default `auto.offset.reset` ('earliest') */
  offsetReset?: OffsetReset
  /** What to do when a committed offset is gone from the log. @default 'fail' */
  onOutOfRange?: 'fail' | 'earliest' | 'latest'
  /** Error policies of this source alone. @default those of the application */
  errors?: ErrorPolicies
}

/** Options of `stream`: a side without a serde stays bytes. Kafka Streams: `Consumed.with`. */
export interface StreamSourceOptions<KS extends AnySerde, VS extends AnySerde, K, V> extends SourceOptions<K, V> {
  /** Serde of the key; `nullable(…)` where null keys are expected. @default nullable bytes, passed through unread */
  key?: KS
  /** Serde of the value; `nullable(…)` where null values are expected. @default nullable bytes, passed through unread */
  value?: VS
}

/** How far back a store keeps earlier values. */
export interface StoreHistory {
  /** How far back. */
  historyRetention: Duration
  /** Size of a segment. A store in memory has none: told for the JVM's sake. */
  segmentInterval?: Duration
}

/** A store that may keep earlier values of its keys. */
export interface VersionedOption {
  /** Keep earlier versions, for joins by time; what comes out of order then changes no present result. Kafka Streams: `Stores.persistentVersionedKeyValueStore` */
  versioned?: StoreHistory
}

/** Options of `table` and `globalTable`. Kafka Streams: `Consumed` and `Materialized`. */
export interface TableSourceOptions<K, V> extends SourceOptions<K, V>, StoreOptions, VersionedOption {
  /** Serde of the key; records with a null key are dropped and counted. */
  key: Serde<K>
  /** Serde of the value; a null value is a deletion and reaches no serde. */
  value: Serde<V>
}

/**
 * Picks partitions: a number, several, `[]` for none (counted), `undefined` for the default (murmur2 of the key).
 * Kafka Streams: `StreamPartitioner`.
 */
export type Partitioner<K, V> = (
  value: V,
  key: K,
  topic: string,
  partitionCount: number,
) => number | readonly number[] | undefined

/** Options of `to` that are never required. Kafka Streams: `Produced`. */
export interface SinkOptions<K, V> extends NameOptions {
  /** Picks the partition. @default Java's murmur2 over the key's bytes */
  partitioner?: Partitioner<K, V>
}

/** Options of `to`. A sink only writes, so a serde for a wider type will do; null is written as Kafka's null. Kafka Streams: `Produced`. */
export type ToOptions<K, V, M extends MissingSerde> = SinkOptions<K, V> &
  ('no key serde' extends M
    ? { /** Serde of the key. */ key: Serializer<Present<K>> }
    : { /** Serde of the key. @default the one already known */ key?: Serializer<Present<K>> }) &
  ('no value serde' extends M
    ? { /** Serde of the value. */ value: Serializer<Present<V>> }
    : { /** Serde of the value. @default the one already known */ value?: Serializer<Present<V>> })

/** Store of a result that is kept anyway. Kafka Streams: `Materialized.as(name)`. */
export interface StoreOptions extends NameOptions, StoreEngineOptions {
  /** Name of the store and its changelog topic. @default numbered as StreamsBuilder does */
  store?: string
}

/** Store of a windowed result. Kafka Streams: `Materialized<K, V, WindowStore>`. */
export interface WindowedStoreOptions extends StoreOptions {
  /** How long windows are kept after their start. @default size + grace */
  retention?: Duration
}

/** Store with the serde of a new value type; the serde decides the type. Kafka Streams: `Materialized.with(keySerde, valueSerde)`. */
export type ValueStoreOptions<A> = StoreOptions & { /** Serde of the result. */ value: Serde<A> }
/** The same for windows. */
export type WindowedValueStoreOptions<A> = WindowedStoreOptions & { /** Serde of the result. */ value: Serde<A> }
/** Options of `repartition`. Kafka Streams: `Repartitioned`. */
export interface RepartitionOptions<K, V> extends NameOptions {
  /** Partitions of the topic. @default as many as the upstream topics */
  partitions?: number
  /** Picks the partition. @default Java's murmur2 over the key's bytes */
  partitioner?: Partitioner<K, V>
}

/** Options of a stream-stream join, beside serdes. Kafka Streams: `JoinWindows`, `StreamJoined`. */
export interface StreamJoinOptions extends NameOptions, StoreEngineOptions {
  /** Largest time between the two records; or how far the right one may lie `before` and `after` the left one. */
  within: Duration | { before: Duration; after: Duration }
  /** How long after that an unmatched record waits; there is no default, write `0` for none. */
  grace: Duration
  /** Base name of the two stores. Kafka Streams: `StreamJoined.withStoreName` */
  store?: string
}

/** Options of a stream-table join, beside serdes. Kafka Streams: `Joined`. */
export interface TableJoinOptions extends NameOptions {
  /** Let stream records wait that long for the table, which must be versioned. @default no wait */
  grace?: Duration
}

/** How many updates a suppress holds. Kafka Streams: `BufferConfig`. */
export interface SuppressBuffer {
  /** Most keys held. @default unbounded */
  maxRecords?: number
  /** Most bytes held. @default unbounded */
  maxBytes?: number
}
/** Hold back updates of a key for a time and pass on the last. Kafka Streams: `Suppressed.untilTimeLimit`. */
export interface SuppressUntilTimeLimit extends NameOptions, SuppressBuffer {
  /** How long after the first held update, by event time. */
  until: Duration
  /** A full buffer passes on its oldest, or stops the application. @default 'emit'. Kafka Streams: `emitEarlyWhenFull`, `shutDownWhenFull` */
  whenFull?: 'emit' | 'stop'
}
/** Hold back a window until it has closed and pass on its final result. Kafka Streams: `Suppressed.untilWindowCloses`. */
export interface SuppressUntilWindowCloses extends NameOptions, SuppressBuffer {
  /** Only on windowed tables. */
  until: 'windowCloses'
  /** A final result cannot be early: a full buffer stops the application. Kafka Streams: `shutDownWhenFull` */
  whenFull?: 'stop'
}

/** Options of `dedupe`. Kafka Streams: none (KIP-655). */
export interface DedupeOptions extends StoreOptions {
  /** How long an id is remembered, by event time; a record that comes later than that is not told apart any more. */
  within: Duration
}
