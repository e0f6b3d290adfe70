import type { RecordHeaders } from '../model/headers.ts'

/** Timestamp of a changelog record that is stamped with the present time when it is sent, as the JVM's buffers do. */
export const STAMPED_WHEN_SENT = -1

/** Where a store's changes go: one record per write, in order. */
export interface Changelog {
  readonly topic: string
  /** Appends one record; key and value are copied before it returns. No headers unless given. */
  append(key: Uint8Array, value: Uint8Array | null, timestamp: number, headers?: RecordHeaders): void
}
