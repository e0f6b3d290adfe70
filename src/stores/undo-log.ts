import { assert } from '../model/assert.ts'
import type { ValueColumn } from './value-column.ts'

/** Old values whose place is kept for the next transaction. */
const KEPT_MAX = 65_536

/** Told of each entry that got an older value back, with the size and presence of the value it lost. */
export type Undone = (entry: number, sizeBefore: number, hadBefore: boolean) => void

/**
 * Older values of a store at two depths: as of the open transaction's start, and as of the record's savepoint. Each entry is
 * held once per depth, so the log is bounded by the distinct keys of a transaction, not by its writes.
 *
 * One stack serves both: what the present record has pushed lies on top. Where the record ends, it keeps those of its values
 * that are the transaction's first of their entry, and drops the others. Which depth an entry is held at already is told by
 * its mark in the column: the number of the last record that wrote it.
 */
export class UndoLog {
  readonly #values: ValueColumn
  readonly #log = new OldValues()
  /** Where the values of the present record begin. */
  #recordStart = 0
  /** Numbers only grow, so that marks of earlier records and transactions need not be wiped. */
  #recordNumber = 1
  /** The number of the open transaction's first record. */
  #transactionNumber = 1

  constructor(values: ValueColumn) {
    this.#values = values
  }

  /** Whether a write of the open transaction is held. */
  get dirty(): boolean {
    return this.#log.length > 0
  }

  /** Whether the entry's value of the transaction's start is held. */
  holds(entry: number): boolean {
    return this.#values.markOf(entry) >= this.#transactionNumber
  }

  /** To be called before an entry's value is replaced; afterwards the column may overwrite it. */
  remember(entry: number): void {
    const values = this.#values
    const mark = values.markOf(entry)
    if (mark === this.#recordNumber) {
      // The second write within one record: nobody will ask for what stood in between.
      values.release(entry)
      return
    }
    values.setMark(entry, this.#recordNumber)
    this.#log.push(values, entry, mark)
  }

  endRecord(): void {
    const log = this.#log
    const start = this.#recordStart
    if (log.length === start) return
    let kept = start
    for (let at = start; at < log.length; at++) {
      if (log.markAt(at) < this.#transactionNumber) log.move(at, kept++)
      else this.#values.freeToken(log.tokenAt(at))
    }
    log.truncate(kept)
    this.#recordStart = kept
    this.#recordNumber += 1
  }

  /** @param vanished - told of each entry that this record had created */
  rollbackRecord(undone: Undone, vanished: (entry: number) => void): void {
    const log = this.#log
    for (let at = log.length - 1; at >= this.#recordStart; at--) {
      this.#undo(at, undone)
      const entry = log.entryAt(at)
      const isFirst = log.markAt(at) < this.#transactionNumber
      this.#values.setMark(entry, log.markAt(at))
      if (isFirst && !this.#values.has(entry)) vanished(entry)
    }
    log.truncate(this.#recordStart)
    this.#recordNumber += 1
  }

  /** @param vanished - told of each entry that has no value any more */
  commit(vanished: (entry: number) => void): void {
    this.endRecord()
    // Of a transaction that only counted there is nothing to do, and its rows are not looked at again.
    if (this.#values.freesTokens) this.#freeOld()
    if (this.#values.hasGaps) this.#tellVanished(vanished)
    this.#values.hasGaps = false
    this.#nextTransaction()
  }

  /** @param vanished - told of each entry that the transaction had created */
  abort(undone: Undone, vanished: (entry: number) => void): void {
    this.rollbackRecord(undone, vanished)
    for (let at = this.#log.length - 1; at >= 0; at--) {
      this.#undo(at, undone)
      const entry = this.#log.entryAt(at)
      if (!this.#values.has(entry)) vanished(entry)
    }
    this.#nextTransaction()
  }

  /** Forgets all old values without freeing them: the caller clears the arena. */
  clear(): void {
    this.#nextTransaction()
  }

  #freeOld(): void {
    const log = this.#log
    for (let at = 0; at < log.length; at++) this.#values.freeToken(log.tokenAt(at))
  }

  #tellVanished(vanished: (entry: number) => void): void {
    const log = this.#log
    for (let at = 0; at < log.length; at++) {
      const entry = log.entryAt(at)
      if (!this.#values.has(entry)) vanished(entry)
    }
  }

  #undo(at: number, undone: Undone): void {
    const entry = this.#log.entryAt(at)
    const had = this.#values.has(entry)
    const size = this.#values.sizeOf(entry)
    this.#values.release(entry)
    this.#log.giveBack(this.#values, at)
    undone(entry, size, had)
  }

  #nextTransaction(): void {
    this.#log.clear()
    this.#recordStart = 0
    this.#recordNumber += 1
    this.#transactionNumber = this.#recordNumber
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
  /** The mark each entry had before. */
  readonly #marks: number[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(values: ValueColumn, entry: number, mark: number): void {
    const at = this.#length
    this.#entries[at] = entry
    this.#tokens[at] = values.tokenOf(entry)
    this.#sizes[at] = values.rawSizeOf(entry)
    this.#timestamps[at] = values.timestampOf(entry)
    this.#marks[at] = mark
    this.#length = at + 1
  }

  /** Takes a value further down, to a place that is free. */
  move(from: number, to: number): void {
    if (from === to) return
    this.#entries[to] = this.entryAt(from)
    this.#tokens[to] = this.#tokens[from]
    this.#sizes[to] = this.#sizes[from] ?? -1
    this.#timestamps[to] = this.#timestamps[from] ?? -1
    this.#marks[to] = this.markAt(from)
  }

  truncate(length: number): void {
    this.#length = length
  }

  entryAt(at: number): number {
    const entry = this.#entries[at]
    assert(entry !== undefined && at < this.#length, 'an old value has an entry')
    return entry
  }

  markAt(at: number): number {
    return this.#marks[at] ?? 0
  }

  tokenAt(at: number): unknown {
    return this.#tokens[at]
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
      this.#marks.length = 0
    }
    this.#length = 0
  }
}
