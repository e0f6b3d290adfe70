import { assert } from '../model/assert.ts'
import type { ValueColumn } from './value-column.ts'

const ENTRIES_MIN = 32
/** Old values whose place is kept for the next transaction. */
const KEPT_MAX = 65_536

/** Told of each entry that got an older value back, with the size and presence of the value it lost. */
export type Undone = (entry: number, sizeBefore: number, hadBefore: boolean) => void

/**
 * Older values of a store at two depths: as of the open transaction's start, and as of the record's savepoint. Each entry is
 * held once per depth, so the log is bounded by the distinct keys of a transaction, not by its writes.
 */
export class UndoLog {
  readonly #values: ValueColumn
  readonly #transaction = new OldValues()
  readonly #record = new OldValues()
  #transactionMarks = new Float64Array(ENTRIES_MIN)
  #recordMarks = new Float64Array(ENTRIES_MIN)
  #transactionNumber = 1
  #recordNumber = 1

  constructor(values: ValueColumn) {
    this.#values = values
  }

  /** Whether a write of the open transaction is held. */
  get dirty(): boolean {
    return this.#transaction.length > 0
  }

  /** Whether the entry's value of the transaction's start is held. */
  holds(entry: number): boolean {
    return this.#transactionMarks[entry] === this.#transactionNumber
  }

  /** To be called before an entry's value is replaced; afterwards the column may overwrite it. */
  remember(entry: number): void {
    this.#reserve(entry)
    if (this.#recordMarks[entry] === this.#recordNumber) {
      // The second write within one record: nobody will ask for what stood in between.
      this.#values.release(entry)
      return
    }
    this.#recordMarks[entry] = this.#recordNumber
    const first = this.#transactionMarks[entry] !== this.#transactionNumber
    if (first) {
      this.#transactionMarks[entry] = this.#transactionNumber
      this.#transaction.push(this.#values, entry, true)
    }
    this.#record.push(this.#values, entry, first)
  }

  endRecord(): void {
    if (this.#record.length === 0) return
    for (let at = 0; at < this.#record.length; at++) {
      if (!this.#record.isShared(at)) this.#values.freeToken(this.#record.tokenAt(at))
    }
    this.#nextRecord()
  }

  /** @param vanished - told of each entry that this record had created */
  rollbackRecord(undone: Undone, vanished: (entry: number) => void): void {
    for (let at = this.#record.length - 1; at >= 0; at--) {
      const entry = this.#record.entryAt(at)
      this.#undo(this.#record, at, undone)
      if (!this.#record.isShared(at)) continue
      this.#transactionMarks[entry] = 0
      this.#transaction.pop()
      if (!this.#values.has(entry)) vanished(entry)
    }
    this.#nextRecord()
  }

  /** @param vanished - told of each entry that has no value any more */
  commit(vanished: (entry: number) => void): void {
    this.endRecord()
    for (let at = 0; at < this.#transaction.length; at++) {
      this.#values.freeToken(this.#transaction.tokenAt(at))
      const entry = this.#transaction.entryAt(at)
      if (!this.#values.has(entry)) vanished(entry)
    }
    this.#nextTransaction()
  }

  /** @param vanished - told of each entry that the transaction had created */
  abort(undone: Undone, vanished: (entry: number) => void): void {
    this.rollbackRecord(undone, vanished)
    for (let at = this.#transaction.length - 1; at >= 0; at--) {
      this.#undo(this.#transaction, at, undone)
      const entry = this.#transaction.entryAt(at)
      if (!this.#values.has(entry)) vanished(entry)
    }
    this.#nextTransaction()
  }

  /** Forgets all old values without freeing them: the caller clears the arena. */
  clear(): void {
    this.#nextRecord()
    this.#nextTransaction()
  }

  #undo(log: OldValues, at: number, undone: Undone): void {
    const entry = log.entryAt(at)
    const had = this.#values.has(entry)
    const size = this.#values.sizeOf(entry)
    this.#values.release(entry)
    log.giveBack(this.#values, at)
    undone(entry, size, had)
  }

  #nextRecord(): void {
    this.#record.clear()
    this.#recordNumber += 1
  }

  #nextTransaction(): void {
    assert(this.#record.length === 0, 'a transaction ends between records')
    this.#transaction.clear()
    this.#transactionNumber += 1
  }

  #reserve(entry: number): void {
    if (entry < this.#transactionMarks.length) return
    const length = Math.max(entry + 1, this.#transactionMarks.length * 2)
    const transactionMarks = new Float64Array(length)
    transactionMarks.set(this.#transactionMarks)
    this.#transactionMarks = transactionMarks
    const recordMarks = new Float64Array(length)
    recordMarks.set(this.#recordMarks)
    this.#recordMarks = recordMarks
  }
}

/**
 * A stack of older values, one array per field so that nothing is allocated per write. Cleared by its length alone: cutting
 * the arrays for every record was measured as the dearest part of a write.
 */
class OldValues {
  readonly #entries: number[] = []
  readonly #tokens: unknown[] = []
  readonly #sizes: number[] = []
  readonly #timestamps: number[] = []
  readonly #shared: boolean[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  /** @param shared - the other depth holds the same token and frees it */
  push(values: ValueColumn, entry: number, shared: boolean): void {
    const at = this.#length
    this.#entries[at] = entry
    this.#tokens[at] = values.tokenOf(entry)
    this.#sizes[at] = values.rawSizeOf(entry)
    this.#timestamps[at] = values.timestampOf(entry)
    this.#shared[at] = shared
    this.#length = at + 1
  }

  pop(): void {
    this.#length -= 1
  }

  entryAt(at: number): number {
    const entry = this.#entries[at]
    assert(entry !== undefined && at < this.#length, 'an old value has an entry')
    return entry
  }

  tokenAt(at: number): unknown {
    return this.#tokens[at]
  }

  isShared(at: number): boolean {
    return this.#shared[at] === true
  }

  giveBack(values: ValueColumn, at: number): void {
    values.restoreToken(this.entryAt(at), this.#tokens[at], this.#sizes[at] ?? -1, this.#timestamps[at] ?? -1)
  }

  clear(): void {
    if (this.#length > KEPT_MAX) {
      // A large transaction is over: its memory goes back.
      this.#entries.length = 0
      this.#tokens.length = 0
      this.#sizes.length = 0
      this.#timestamps.length = 0
      this.#shared.length = 0
    }
    this.#length = 0
  }
}
