import type { Serde } from '../serdes/serde.ts'
import type { TimestampMs } from '../model/duration.ts'
import type { Windowed } from '../model/windowed.ts'

/** A key and its value, as range scans give them. Kafka Streams: `KeyValue`. */
export type Entry<K, V> = readonly [key: K, value: V]

/** A value with the event time of its last update. Kafka Streams: `ValueAndTimestamp`. */
export interface ValueAndTimestamp<out V> {
  /** The value. */
  readonly value: V
  /** Event time of the last update, in ms. */
  readonly timestamp: TimestampMs
}

/** A value of a versioned store with the time it holds from and to. Kafka Streams: `VersionedRecord`. */
export interface VersionedRecord<out V> extends ValueAndTimestamp<V> {
  /** Until when it held, in ms, exclusive; `undefined` for the latest. */
  readonly validTo: TimestampMs | undefined
}

/** A store that keeps earlier values for a while, rolled back with its transaction. Kafka Streams: `VersionedKeyValueStore`. */
export interface VersionedKeyValueStore<K, V> {
  /** The latest value, or the one that held at `asOf`. */
  get(key: K, asOf?: TimestampMs): VersionedRecord<V> | undefined
  /**
   * Adds a version; `null` is a deletion at that time. Returns until when it holds in ms, `'latest'`, or `'rejected'` when
   * older than the history retention.
   */
  put(key: K, value: V | null, timestamp: TimestampMs): TimestampMs | 'latest' | 'rejected'
  /** Deletes as of a time; returns what held then. */
  delete(key: K, timestamp: TimestampMs): VersionedRecord<V> | undefined
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

/** Reads of a window store; an entry older than the retention is not seen. Kafka Streams: `ReadOnlyWindowStore`. */
export interface ReadonlyWindowStore<K, out V> {
  /** The value of the window that starts at `start`. Kafka Streams: `fetch(key, time)`. */
  get(key: K, start: TimestampMs): V | undefined
  /** Windows of a key that start between two times, both included, oldest first. */
  fetch(key: K, from: TimestampMs, to: TimestampMs): Iterable<readonly [start: TimestampMs, value: V]>
  /** The same, newest first. */
  backwardFetch(key: K, from: TimestampMs, to: TimestampMs): Iterable<readonly [start: TimestampMs, value: V]>
  /** Windows of a range of keys; `undefined` = open end. Kafka Streams: `fetch(keyFrom, keyTo, timeFrom, timeTo)`. */
  fetchRange(
    fromKey: K | undefined,
    toKey: K | undefined,
    from: TimestampMs,
    to: TimestampMs,
  ): Iterable<Entry<Windowed<K>, V>>
  /** Windows of all keys that start between two times. */
  fetchAll(from: TimestampMs, to: TimestampMs): Iterable<Entry<Windowed<K>, V>>
  /** Everything. */
  all(): Iterable<Entry<Windowed<K>, V>>
}

/** A window store, rolled back with its transaction. Kafka Streams: `WindowStore`. */
export interface WindowStore<K, V> extends ReadonlyWindowStore<K, V> {
  /** Sets the value of the window that starts at `start`; `null` deletes (ignored by a store that keeps duplicates). */
  put(key: K, value: V | null, start: TimestampMs): void
}

/** Reads of a session store. Kafka Streams: `ReadOnlySessionStore`. */
export interface ReadonlySessionStore<K, out V> {
  /** Sessions of a key that end at or after one time and start at or before another, by end, then start. */
  findSessions(key: K, earliestEnd: TimestampMs, latestStart: TimestampMs): Iterable<Entry<Windowed<K>, V>>
  /** The value of exactly this session. Kafka Streams: `fetchSession`. */
  get(key: K, start: TimestampMs, end: TimestampMs): V | undefined
  /** All sessions of a key. */
  fetch(key: K): Iterable<Entry<Windowed<K>, V>>
}

/** A session store, rolled back with its transaction. Kafka Streams: `SessionStore`. */
export interface SessionStore<K, V> extends ReadonlySessionStore<K, V> {
  /** Sets the value of a session; `null` removes it. */
  put(session: Windowed<K>, value: V | null): void
  /** Removes a session. */
  remove(session: Windowed<K>): void
}

/** Any of the state stores, as a processor may be handed it. */
export type StateStore =
  | ReadonlyKeyValueStore<never, unknown>
  | ReadonlyWindowStore<never, unknown>
  | ReadonlySessionStore<never, unknown>
  | VersionedKeyValueStore<never, never>
