import type { TimestampMs } from '../model/duration.ts'
import { MillraceError, reasonOf } from '../model/errors.ts'
import { NO_HEADERS } from '../model/headers.ts'
import type { Windowed } from '../model/windowed.ts'
import type { Serde } from '../serdes/serde.ts'
import type { Entry, VersionedRecord } from '../stores/store-types.ts'
import type { StateQueries } from './state-queries.ts'
import type { StateRow } from './state-question.ts'

/** How the bytes of a store are read; must equal the serdes the store was given. */
export interface StateSerdes<K, V> {
  /** Serde of the keys; of a windowed store, of the keys without their window. */
  readonly key: Serde<K>
  /** Serde of the values. */
  readonly value: Serde<V>
}

/**
 * Reads of committed state in this instance: what the transactions that are committed have made of it, never what an open one
 * has. Asynchronous, because state lives in worker threads, and because a read waits for the commit that is under way. An
 * instance reads the partitions that are assigned to it; a key is looked for where the default partitioner puts it, and in
 * the other partitions here. Serdes give the types and must equal the store's.
 *
 * Every read rejects with a `MillraceError`: `NOT_RUNNING` before the start and after the end, `NAME_UNKNOWN` for a store the
 * topology does not have, `USAGE` for a store of another kind, `STATE_NOT_READY` while tasks are restored or handed over,
 * `STATE_ELSEWHERE` when the partition of the key is with another instance, `SERDE_MISMATCH` when the bytes cannot be read.
 * Kafka Streams: `KafkaStreams.query`, `store`.
 */
export interface StateReader {
  /** One value of a key-value store, or the latest of a versioned one; `undefined` when there is none. Kafka Streams: `KeyQuery`. */
  get<K, V>(store: string, key: K, serdes: StateSerdes<K, V>): Promise<V | undefined>
  /**
   * A range of a key-value store, both ends included; `undefined` = open end. Partition by partition, in the order of the
   * serialized keys within each; a page of entries at a time, each as of one commit. The first range of a store in memory puts
   * its keys in order, which later inserts keep up. Kafka Streams: `RangeQuery`.
   */
  range<K, V>(
    store: string,
    from: K | undefined,
    to: K | undefined,
    serdes: StateSerdes<K, V>,
  ): AsyncIterable<readonly [key: K, value: V]>
  /** All entries of a key-value store, in the order of `range`. Kafka Streams: `ReadOnlyKeyValueStore.all`. */
  all<K, V>(store: string, serdes: StateSerdes<K, V>): AsyncIterable<readonly [key: K, value: V]>
  /** The version of a versioned store that is the latest, or that held at `asOf`, in ms. Kafka Streams: `VersionedKeyQuery`. */
  version<K, V>(
    store: string,
    key: K,
    asOf: TimestampMs | undefined,
    serdes: StateSerdes<K, V>,
  ): Promise<VersionedRecord<V> | undefined>
  /** Windows of a key that start between two times, in ms, both included, oldest first. Kafka Streams: `WindowKeyQuery`. */
  windows<K, V>(
    store: string,
    key: K,
    from: TimestampMs,
    to: TimestampMs,
    serdes: StateSerdes<K, V>,
  ): AsyncIterable<readonly [key: Windowed<K>, value: V]>
  /** Sessions of a key that end at or after `from` and start at or before `to`, in ms, by end, then start. Kafka Streams: `WindowRangeQuery.withKey`. */
  sessions<K, V>(
    store: string,
    key: K,
    from: TimestampMs,
    to: TimestampMs,
    serdes: StateSerdes<K, V>,
  ): AsyncIterable<readonly [key: Windowed<K>, value: V]>
}

/** The typed face of the questions that an instance asks its threads. */
export class LocalStateReader implements StateReader {
  readonly #queries: StateQueries

  constructor(queries: StateQueries) {
    this.#queries = queries
  }

  async get<K, V>(store: string, key: K, serdes: StateSerdes<K, V>): Promise<V | undefined> {
    const bytes = keyBytes(store, key, serdes)
    const row = await this.#queries.single({ kind: 'value', store, key: bytes })
    return row === undefined ? undefined : valueOf(store, row, serdes)
  }

  async *range<K, V>(
    store: string,
    from: K | undefined,
    to: K | undefined,
    serdes: StateSerdes<K, V>,
  ): AsyncIterableIterator<Entry<K, V>> {
    const bounds = { from: boundBytes(store, from, serdes), to: boundBytes(store, to, serdes) }
    for await (const row of this.#queries.range({ kind: 'range', store, ...bounds, after: undefined })) {
      yield [keyOf(store, row, serdes), valueOf(store, row, serdes)]
    }
  }

  all<K, V>(store: string, serdes: StateSerdes<K, V>): AsyncIterable<Entry<K, V>> {
    return this.range(store, undefined, undefined, serdes)
  }

  async version<K, V>(
    store: string,
    key: K,
    asOf: TimestampMs | undefined,
    serdes: StateSerdes<K, V>,
  ): Promise<VersionedRecord<V> | undefined> {
    const row = await this.#queries.single({ kind: 'version', store, key: keyBytes(store, key, serdes), asOf })
    return row === undefined
      ? undefined
      : { value: valueOf(store, row, serdes), timestamp: row.start, validTo: row.end }
  }

  windows<K, V>(
    store: string,
    key: K,
    from: TimestampMs,
    to: TimestampMs,
    serdes: StateSerdes<K, V>,
  ): AsyncIterable<Entry<Windowed<K>, V>> {
    return this.#between('windows', { store, key, from, to }, serdes)
  }

  sessions<K, V>(
    store: string,
    key: K,
    from: TimestampMs,
    to: TimestampMs,
    serdes: StateSerdes<K, V>,
  ): AsyncIterable<Entry<Windowed<K>, V>> {
    return this.#between('sessions', { store, key, from, to }, serdes)
  }

  async *#between<K, V>(
    kind: 'windows' | 'sessions',
    { store, key, from, to }: TimeRange<K>,
    serdes: StateSerdes<K, V>,
  ): AsyncIterableIterator<Entry<Windowed<K>, V>> {
    const question = { kind, store, key: keyBytes(store, key, serdes), from, to, skip: 0 } as const
    // Rows of a window store have no end: all its windows are equally long.
    const size = this.#queries.definition(store).windowSizeMs ?? 0
    for await (const row of this.#queries.times(question)) {
      yield [{ key, start: row.start, end: row.end ?? row.start + size }, valueOf(store, row, serdes)]
    }
  }
}

/** What of a key is asked for. */
interface TimeRange<K> {
  readonly store: string
  readonly key: K
  readonly from: TimestampMs
  readonly to: TimestampMs
}

function boundBytes<K>(store: string, key: K | undefined, serdes: { readonly key: Serde<K> }): Uint8Array | undefined {
  return key === undefined ? undefined : keyBytes(store, key, serdes)
}

/** Copied: a serde may write the next key to the same place. */
function keyBytes<K>(store: string, key: K, { key: serde }: { readonly key: Serde<K> }): Uint8Array {
  if (key === null || key === undefined) {
    throw new MillraceError('USAGE', { node: store, what: `The key of a read of ${store} is null.` })
  }
  return Uint8Array.from(serde.serialize(key, { topic: store, side: 'key', headers: NO_HEADERS }))
}

function keyOf<K>(store: string, row: StateRow, { key: serde }: { readonly key: Serde<K> }): K {
  return read(store, 'key', row.key, serde)
}

function valueOf<V>(store: string, row: StateRow, { value: serde }: { readonly value: Serde<V> }): V {
  return read(store, 'value', row.value, serde)
}

function read<T>(store: string, side: 'key' | 'value', bytes: Uint8Array, serde: Serde<T>): T {
  try {
    return serde.deserialize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), {
      topic: store,
      side,
      headers: NO_HEADERS,
    })
  } catch (cause) {
    throw new MillraceError('SERDE_MISMATCH', {
      node: store,
      cause,
      what: `The ${side} serde ${serde.name} cannot read what the store ${store} holds: ${reasonOf(cause)}.`,
      action: 'Give the serdes that the store was given.',
    })
  }
}
