import type { StateStore } from './state-store.ts'
import type { WriteCache } from './write-cache.ts'

/** An entry of a scan: the key's bytes (a view, valid during the turn), the value, and the time of its last update in ms. */
export type KeyValueEntry = readonly [key: Buffer, value: unknown, timestamp: number]

/** Which entries a scan gives, in the order of the keys' bytes. */
export interface KeyRange {
  /** First key, included. @default open */
  readonly from?: Uint8Array | undefined
  /** Last key, included. @default open */
  readonly to?: Uint8Array | undefined
  /** Only keys that begin with these bytes. @default all */
  readonly prefix?: Uint8Array | undefined
  /** From the last to the first. @default false */
  readonly backwards?: boolean
}

/** What an aggregation needs of the store of its results. */
export type AggregateState = Pick<KeyValueState, 'get' | 'lastTimestamp' | 'put'>

/**
 * A key-value store of one task as operators use it: keys are bytes, values are what the store's serde reads, each with the
 * event time of its last update. Every engine of this kind passes the same contract tests. Kafka Streams:
 * `TimestampedKeyValueStore<Bytes, byte[]>`.
 */
export interface KeyValueState extends StateStore {
  readonly kind: 'keyValue'
  /** Holds back changelog records and results until the commit; `undefined` without a cache. */
  readonly cache: WriteCache | undefined
  /** The value under a key; `undefined` when there is none. `lastTimestamp` then tells its time. */
  get(key: Uint8Array): unknown
  /** Time of the value that `get` gave last, in ms; −1 when it gave none. A field, so that a read allocates nothing. */
  readonly lastTimestamp: number
  /** Bytes of the value that `put` set last; `null` after a deletion. Valid until the next `put`, and not to be changed. */
  readonly lastPutBytes: Uint8Array | null
  /** Whether there is a value under a key, without reading it. */
  has(key: Uint8Array): boolean
  /**
   * Sets the value, or deletes it when `null`, and writes one changelog record with that timestamp.
   *
   * @throws MillraceError `STORE_FULL`, `STORE_CLOSED`
   * @throws whatever the serde throws, before anything is changed
   */
  put(key: Uint8Array, value: unknown, timestamp: number): void
  /** Entries in the order of their keys' bytes; goes on rightly when entries are written meanwhile. */
  scan(range: KeyRange): IterableIterator<KeyValueEntry>
}
