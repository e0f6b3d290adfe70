import { HeldRecordSource, type HeldRecord } from '../model/held-record-source.ts'
import type { RecordSource } from '../model/record-source.ts'

/** The one partition of a topic that a topology reads: its records by offset, what was handed out, and what was committed. */
export class TestLog {
  readonly records: HeldRecord[] = []
  #taken = 0
  #committed = 0

  /** Appends a record; it is handed out by the next `take`. */
  append(record: HeldRecord): void {
    this.records.push(record)
  }

  /** Whether records were appended that nobody has taken. */
  get hasMore(): boolean {
    return this.#taken < this.records.length
  }

  /** All records not yet taken, as one block. */
  take(): RecordSource {
    const block = new LogBlock(this.records, this.#taken, this.records.length)
    this.#taken = this.records.length
    return block
  }

  /** Offset below which everything is committed. */
  get committed(): number {
    return this.#committed
  }

  commit(offset: number): void {
    this.#committed = offset
  }

  /** Hands out again what follows the committed offset. */
  rewind(): void {
    this.#taken = this.#committed
  }

  /** Forgets records from an offset on: they were written by a transaction that is aborted. */
  truncate(length: number): void {
    this.records.length = length
    this.#taken = Math.min(this.#taken, length)
  }
}

/** A stretch of a log. */
class LogBlock extends HeldRecordSource {
  readonly #records: readonly HeldRecord[]
  readonly #end: number
  #at: number

  constructor(records: readonly HeldRecord[], start: number, end: number) {
    super()
    this.#records = records
    this.#at = start - 1
    this.#end = end
  }

  next(): boolean {
    this.#at += 1
    return this.#at < this.#end
  }

  get offset(): number {
    return this.#at
  }

  get position(): number {
    return Math.min(this.#at, this.#end)
  }

  protected override get record(): HeldRecord {
    const record = this.#records[this.#at]
    if (record === undefined) throw new RangeError(`no record at offset ${String(this.#at)}`)
    return record
  }
}
