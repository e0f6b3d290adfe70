import type { RecordHeaders } from '../model/headers.ts'
import type { UpcomingKeys } from '../model/upcoming-keys.ts'

/**
 * What the engine needs of any store: restore it, set savepoints, end its transaction. Writes are visible at once to the
 * task itself; `commit` makes them final, `abort` takes all of them back. Kafka Streams: `StateStore`.
 */
export interface StateStore {
  readonly name: string
  /** Topic its changes go to; `undefined` without logging. */
  readonly changelogTopic: string | undefined
  /** Number of entries. */
  readonly entries: number
  /** Bytes of keys and values held, without overhead. */
  readonly bytes: number
  /** Gets the memory ready that reading and writing these keys will need; a hint, which changes nothing. */
  lookAhead?(keys: UpcomingKeys): void
  /** Takes over a changelog record; neither undone nor logged again. */
  restore(key: Buffer, value: Buffer | null, timestamp: number, headers: RecordHeaders): void
  /** Keeps the writes since the last savepoint. */
  endRecord(): void
  /** Takes back the writes since the last savepoint. */
  rollbackRecord(): void
  /** Keeps all writes: the broker has acknowledged the transaction. */
  commit(): void
  /** Takes back all writes since the last `commit`. */
  abort(): void
  /** Whether anything was written since the last `commit`. */
  readonly dirty: boolean
  /** Forgets everything, before a restore from the changelog's beginning. */
  clear(): void
  /** Ends it; later use is an error `STORE_CLOSED`. */
  close(): void
}
