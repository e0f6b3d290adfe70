import type { Serde } from '../serdes/serde.ts'
import type { TimestampMs } from '../model/duration.ts'

/** A key and its value, as range scans give them. Kafka Streams: `KeyValue`. */
export type Entry<K, V> = readonly [key: K, value: V]

/** A value with the event time of its last update. Kafka Streams: `ValueAndTimestamp`. */
export interface ValueAndTimestamp<out V> {
  /** The value. */
  readonly value: V
  /** Event time of the last update, in ms. */
  readonly timestamp: TimestampMs
}

/**
 * Reads of a key-value store. Scans run in the order of the serialized keys and close themselves at the end of `for … of`.
 * Kafka Streams: `ReadOnlyKeyValueStore`.
 */
export interface ReadonlyKeyValueStore<K, out V> {
  /** The value; `undefined` when there is none. */
  get(key: K): V | undefined
  /** Entries from one key to another, both included; `undefined` = open end. */
  range(from: K | undefined, to: K | undefined): Iterable<Entry<K, V>>
  /** The same, backwards. */
  reverseRange(from: K | undefined, to: K | undefined): Iterable<Entry<K, V>>
  /** All entries. */
  all(): Iterable<Entry<K, V>>
  /** All entries, backwards. */
  reverseAll(): Iterable<Entry<K, V>>
  /** Entries whose serialized key begins with the serialized prefix. */
  prefixScan<P>(prefix: P, serde: Serde<P>): Iterable<Entry<K, V>>
  /** Number of entries, exact in memory. */
  readonly approximateNumEntries: number
}

/** A key-value store, rolled back with its transaction. Kafka Streams: `KeyValueStore`. */
export interface KeyValueStore<K, V> extends ReadonlyKeyValueStore<K, V> {
  /** Sets the value; `null` deletes. */
  put(key: K, value: V | null): void
  /** Sets the value if there is none; returns the one that was there. */
  putIfAbsent(key: K, value: V): V | undefined
  /** Deletes and returns what was there. */
  delete(key: K): V | undefined
}
