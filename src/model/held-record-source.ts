import type { RecordHeaders } from './headers.ts'
import type { RecordSource } from './record-source.ts'

/** A record as an object. */
export interface HeldRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly timestamp: number
  readonly headers: RecordHeaders
}

/** Records that are objects already, read as if they lay in a batch; for tests and checks, where an object per record is fine. */
export abstract class HeldRecordSource implements RecordSource {
  readonly raw = undefined

  /** The record moved to. */
  protected abstract get record(): HeldRecord
  abstract next(): boolean
  abstract get offset(): number
  abstract get position(): number

  get timestamp(): number {
    return this.record.timestamp
  }

  get hasKey(): boolean {
    return this.key !== null
  }

  get hasValue(): boolean {
    return this.value !== null
  }

  get key(): Buffer | null {
    return this.record.key
  }

  get value(): Buffer | null {
    return this.record.value
  }

  get headers(): RecordHeaders {
    return this.record.headers
  }
}
