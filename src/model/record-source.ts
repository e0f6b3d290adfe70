import type { RecordHeaders } from './headers.ts'

/** Records of one partition in order, read one at a time without an object per record. */
export interface RecordSource {
  /** Moves to the next record; false at the end, for good. The fields below speak of the record moved to. */
  next(): boolean
  readonly offset: number
  /** Milliseconds since 1970; −1 when the record has none. */
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** `NO_HEADERS` itself when there are none. */
  readonly headers: RecordHeaders
  /** The offset to read next, once the record moved to is done with; at the end, past everything that was skipped. */
  readonly position: number
}
