import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'

/** Timestamp of a changelog record that is stamped with the present time when it is sent, as the JVM's buffers do. */
export const STAMPED_WHEN_SENT = -1

/**
 * Whose changelog records carry the headers of the record that wrote: nobody's, those of removals (the JVM's format of stores
 * with headers, `dsl.store.format=headers`), or all (subscriptions of a foreign-key join, in every format).
 */
export type LoggedHeaders = 'none' | 'ofRemovals' | 'always'

/** The headers of a changelog record. */
export function headersLogged(logged: LoggedHeaders, value: Uint8Array | null, headers: RecordHeaders): RecordHeaders {
  return logged === 'always' || (logged === 'ofRemovals' && value === null) ? headers : NO_HEADERS
}

/** Where a store's changes go: one record per write, in order. */
export interface Changelog {
  readonly topic: string
  /** Appends one record; key and value are copied before it returns. Without `headers` as the store logs those of the present record. */
  append(key: Uint8Array, value: Uint8Array | null, timestamp: number, headers?: RecordHeaders): void
}
