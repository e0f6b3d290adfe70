import type { StateStore } from './state-store.ts'
import type { WriteCache } from './write-cache.ts'

/** Told of a session of one key; `false` ends the scan. */
export type SessionVisitor = (start: number, end: number, value: unknown) => boolean

/** A session of a scan over keys: the key's bytes (a view, valid during the turn), its bounds, and the value. */
export type SessionEntry = readonly [key: Buffer, start: number, end: number, value: unknown]

/**
 * A session store of one task as operators use it. A session whose end is `retentionMs` or more before the highest end ever
 * put is not seen, as in the JVM. Kafka Streams: `SessionStore<Bytes, byte[]>`.
 */
export interface SessionState extends StateStore {
  readonly kind: 'session'
  /** Holds back changelog records and results until the commit; `undefined` without a cache. */
  readonly cache: WriteCache | undefined
  /** How long after its end a session is seen, in ms, by the highest end put. */
  readonly retentionMs: number
  /** Highest end ever put, in ms; −1 at first. */
  readonly observedMs: number
  /** Bytes of the value that `put` set last; `null` after a deletion. Valid until the next `put`, and not to be changed. */
  readonly lastPutBytes: Uint8Array | null
  /** The value of exactly this session; `undefined` when there is none or it is too old. */
  get(key: Uint8Array, start: number, end: number): unknown
  /**
   * Sets the value of a session, or removes it when `null`, and writes one changelog record with that timestamp.
   *
   * @throws MillraceError `STORE_FULL`, `STORE_CLOSED`
   */
  put(key: Uint8Array, start: number, end: number, value: unknown, timestamp: number): void
  /** Visits the sessions of a key that end at or after one time and start at or before another, by end, then start. */
  findSessions(key: Uint8Array, earliestEnd: number, latestStart: number, visit: SessionVisitor): void
  /** Sessions of all keys that end in `[from, to]`, by end, then start, then key. The store is not to be written meanwhile. */
  fetchAll(from: number, to: number): IterableIterator<SessionEntry>
  /** As `fetchAll`, of all that is still held: final results are read so, and may be too old for any other read, as in the JVM. */
  fetchHeld(from: number, to: number): IterableIterator<SessionEntry>
  /** Number of sessions that end in `[from, to]` and are too old for `fetchHeld`, as far as they are still there. */
  countUnseen(from: number, to: number): number
}
