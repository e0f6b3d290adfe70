import type { RecordHeaders } from '../model/headers.ts'
import type { StateStore } from './state-store.ts'
import type { WriteCache } from './write-cache.ts'

/** Told of an entry of one key; `false` ends the scan. */
export type WindowVisitor = (start: number, value: unknown, timestamp: number) => boolean

/** An entry of a scan over keys: the key's bytes (a view, valid during the turn), the window's start, the value, the time of its last update. */
export type WindowEntry = readonly [key: Buffer, start: number, value: unknown, timestamp: number]

/**
 * A window store of one task as operators use it. An entry whose start is `retentionMs` or more before the highest start ever
 * put is not seen, as in the JVM, even while it is still held. Kafka Streams: `TimestampedWindowStore<Bytes, byte[]>`.
 */
export interface WindowState extends StateStore {
  readonly kind: 'window'
  /** Holds back changelog records and results until the commit; `undefined` without a cache. */
  readonly cache: WriteCache | undefined
  /** How long after its start an entry is seen, in ms, by the highest start put. */
  readonly retentionMs: number
  /** Whether each put of the same key and start is kept. */
  readonly retainsDuplicates: boolean
  /** Highest start ever put, late ones too, in ms; −1 at first. */
  readonly observedMs: number
  /** Time of the value that `get` gave last, in ms; −1 when it gave none. */
  readonly lastTimestamp: number
  /** Bytes of the value that `put` set last; `null` after a deletion. Valid until the next `put`, and not to be changed. */
  readonly lastPutBytes: Uint8Array | null
  /** The value of the window that starts at `start`; `undefined` when there is none or it is too old. */
  get(key: Uint8Array, start: number): unknown
  /**
   * Sets the value of a window, or deletes it when `null`, and writes one changelog record. A store that keeps duplicates
   * adds an entry instead and ignores `null`.
   *
   * @param headers - of the changelog record; none without them
   * @throws MillraceError `STORE_FULL`, `STORE_CLOSED`
   */
  put(key: Uint8Array, value: unknown, start: number, timestamp: number, headers?: RecordHeaders): void
  /** Visits the windows of a key that start in `[from, to]`, oldest first, duplicates in order of arrival. The store may be written meanwhile. */
  fetch(key: Uint8Array, from: number, to: number, visit: WindowVisitor): void
  /** As `fetch`, newest first. */
  fetchBackwards(key: Uint8Array, from: number, to: number, visit: WindowVisitor): void
  /** Windows of all keys that start in `[from, to]`, by start, then by the key's bytes. The store is not to be written meanwhile. */
  fetchAll(from: number, to: number): IterableIterator<WindowEntry>
  /** As `fetchAll`, of all that is still held: final results are read so, and may be too old for any other read, as in the JVM. */
  fetchHeld(from: number, to: number): IterableIterator<WindowEntry>
  /** Number of entries that start in `[from, to]` and are too old for `fetchHeld`, as far as they are still there. */
  countUnseen(from: number, to: number): number
}
