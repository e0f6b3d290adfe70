import type { RecordHeaders } from './headers.ts'
import type { UpcomingKeys } from './upcoming-keys.ts'

/**
 * A record as it lies in a batch: what follows its timestamp and offset reads the same in any other batch. The batch's
 * memory may be used again after its last record: whoever keeps bytes asks the source for them, or copies.
 */
export interface RawRecord {
  /** The records of the batch, decompressed. */
  readonly batch: Buffer
  /** The same bytes. */
  readonly batchView: DataView
  /** Where the length of the key is. */
  readonly bodyAt: number
  /** Where the record ends, behind its headers. */
  readonly bodyEnd: number
  readonly keyAt: number
  /** Length of the key; −1 for none. */
  readonly keyBytes: number
  readonly valueAt: number
  /** Length of the value; −1 for none. */
  readonly valueBytes: number
}

/** Records of one partition in order, read one at a time without an object per record. */
export interface RecordSource {
  /** Moves to the next record; false at the end, for good. The fields below speak of the record moved to. */
  next(): boolean
  readonly offset: number
  /** Milliseconds since 1970; −1 when the record has none. */
  readonly timestamp: number
  /** Asking whether there is a key or value costs nothing; asking for its bytes may make an object. */
  readonly hasKey: boolean
  readonly hasValue: boolean
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** The record as a batch holds it; `undefined` where it does not lie in one. */
  readonly raw: RawRecord | undefined
  /** `NO_HEADERS` itself when there are none. */
  readonly headers: RecordHeaders
  /** Fills in the keys of the record moved to and of those that follow it in its batch; not there where none follow for sure. */
  readUpcomingKeys?(keys: UpcomingKeys): void
  /** The offset to read next, once the record moved to is done with; at the end, past everything that was skipped. */
  readonly position: number
}
