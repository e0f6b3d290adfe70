import type { row } from './brand.ts'
import type {
  Aggregator,
  Initializer,
  Merger,
  Present,
  ValueStoreOptions,
  VersionedOption,
  WindowedValueStoreOptions,
} from './options.ts'
import type { SessionWindows, TimeWindows, WindowedByOptions } from './windows.ts'

/** Shown in the error when `cogroup` is called without its type: `cogroup<Basket>(…)`. */
export interface WriteTheAggregateType {
  readonly 'write cogroup<Aggregate>(…)': never
}

/** What a cogroup has to know of a grouped stream: any `KGroupedStream`. */
export interface GroupedSide<in out K, in out V> {
  /** Its types. */
  readonly [row]: { readonly grouped: (row: readonly [key: K, value: V]) => readonly [key: K, value: V] }
}

/**
 * Several grouped streams that feed one aggregate `A`. `Table` and `WindowedTable` are the tables it becomes.
 * Kafka Streams: `CogroupedKStream`.
 */
export interface CogroupedKStream<K, A, Table, WindowedTable> {
  /** Adds another grouped stream of the same key. Kafka Streams: `cogroup`. */
  cogroup<VO>(
    other: GroupedSide<K, VO>,
    aggregator: Aggregator<K, Present<VO>, A>,
  ): CogroupedKStream<K, A, Table, WindowedTable>
  /** Builds the aggregate. Kafka Streams: `aggregate`. */
  aggregate(initializer: Initializer<A>, options: ValueStoreOptions<A> & VersionedOption): Table
  /** Aggregates per window of time or session. Kafka Streams: `windowedBy`. */
  windowedBy<W extends TimeWindows | SessionWindows>(
    windows: W,
    options?: WindowedByOptions,
  ): W extends SessionWindows
    ? SessionWindowedCogroupedKStream<K, A, WindowedTable>
    : TimeWindowedCogroupedKStream<A, WindowedTable>
}

/** Cogrouped streams in windows of time. Kafka Streams: `TimeWindowedCogroupedKStream`. */
export interface TimeWindowedCogroupedKStream<A, WindowedTable> {
  /** Builds the aggregate per window. Kafka Streams: `aggregate`. */
  aggregate(initializer: Initializer<A>, options: WindowedValueStoreOptions<A>): WindowedTable
}

/** Cogrouped streams in sessions. Kafka Streams: `SessionWindowedCogroupedKStream`. */
export interface SessionWindowedCogroupedKStream<K, A, WindowedTable> {
  /** Builds the aggregate per session. Kafka Streams: `aggregate(initializer, Merger)`. */
  aggregate(initializer: Initializer<A>, merger: Merger<K, A>, options: WindowedValueStoreOptions<A>): WindowedTable
}
