import type { StateStore } from './state-store.ts'

/** Until when a version holds, in ms; or that it is the latest; or that it came too late to be taken. */
export type VersionEnd = number | 'latest' | 'rejected'

/**
 * A store of one task that keeps earlier values of a key for a while; keys are bytes. Kafka Streams:
 * `VersionedBytesStore`.
 */
export interface VersionedState extends StateStore {
  readonly kind: 'versioned'
  /** The latest value under a key; `undefined` when there is none. `lastTimestamp` then tells since when. */
  get(key: Uint8Array): unknown
  /** The value that held at a time, in ms; `undefined` when there was none or the time is before what is kept. */
  getAsOf(key: Uint8Array, asOf: number): unknown
  /** Since when the value given last holds, in ms; −1 when none was given. A field, so that a read allocates nothing. */
  readonly lastTimestamp: number
  /** Until when the value given last held, in ms; `undefined` for the latest. */
  readonly lastValidTo: number | undefined
  /**
   * Adds a version, a deletion when `null`, and writes one changelog record, even of one that is rejected.
   *
   * @throws MillraceError `STORE_FULL`, `STORE_CLOSED`
   */
  put(key: Uint8Array, value: unknown, timestamp: number): VersionEnd
  /** The latest versions in the order of their keys' bytes. */
  latest(): IterableIterator<readonly [key: Buffer, value: unknown, timestamp: number]>
}
