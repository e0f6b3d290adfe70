import { NO_HEADERS } from '../model/headers.ts'
import { ByteArena } from './byte-arena.ts'
import { KeyedRows } from './keyed-rows.ts'
import { OrderedRows } from './ordered-rows.ts'
import { STORED_BYTES, storedBytes } from './stored-bytes.ts'
import { UndoLog } from './undo-log.ts'
import { ValueColumn } from './value-column.ts'

const ROWS_MIN = 32
const NONE = -1
const NOTHING = Buffer.alloc(0)

/** End of a deletion that holds now. */
export const OPEN_END = Number.MAX_SAFE_INTEGER

/** An earlier version, or a deletion. */
export interface Version {
  readonly from: number
  readonly to: number
  /** `null` for a deletion; a view, valid until the version is dropped and the transaction over. */
  readonly value: Uint8Array | null
}

/**
 * Earlier versions of keys by time, and deletions, with an undo log. The time of a value in its column is the end of the
 * version: `to`, or −1 − `to` for a deletion.
 */
export class VersionHistory {
  readonly #arena = new ByteArena()
  readonly #rows = new KeyedRows(this.#arena)
  readonly #values = new ValueColumn(STORED_BYTES, { topic: '', side: 'value', headers: NO_HEADERS }, this.#arena)
  readonly #undo = new UndoLog(this.#values)
  /** When a row is of use to nobody any more: its end, or the beginning of a deletion that holds now. */
  #expiries = new Float64Array(ROWS_MIN)
  readonly #byExpiry = new OrderedRows(row => this.#expiries[row] ?? 0)
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  get dirty(): boolean {
    return this.#undo.dirty
  }

  /** The last version of a key that begins at or before a time. */
  at(key: Uint8Array, time: number): Version | undefined {
    const number = this.#rows.keyNumber(key)
    if (number === NONE) return undefined
    let row = this.#rows.locate(number, time, 0)
    while (row !== NONE && !this.#values.has(row)) row = this.#rows.olderOf(row)
    return row === NONE ? undefined : this.#versionOf(row)
  }

  /** The beginning of the first version of a key that begins after a time. */
  nextAfter(key: Uint8Array, time: number): number | undefined {
    const number = this.#rows.keyNumber(key)
    if (number === NONE) return undefined
    let row = this.#rows.firstFrom(number, time + 1)
    while (row !== NONE && !this.#values.has(row)) row = this.#rows.newerOf(row)
    return row === NONE ? undefined : this.#rows.timeOf(row)
  }

  /** Adds a version, or replaces the one that begins at the same time. */
  keep(key: Uint8Array, from: number, to: number, value: Uint8Array | null): void {
    const number = this.#rows.addKey(key)
    let row = this.#rows.find(number, from, 0)
    if (row === NONE) {
      row = this.#rows.insert(number, from, 0)
      this.#values.reserve(this.#rows.capacity)
      this.#reserve(row)
    } else if (this.#values.has(row)) {
      this.#leave(row, this.#values.sizeOf(row))
    }
    this.#undo.remember(row)
    this.#values.set(row, NOTHING, value ?? NOTHING, value === null ? -1 - to : to)
    this.#enter(row)
  }

  /** Takes out the version that begins at a time. */
  drop(key: Uint8Array, from: number): void {
    const number = this.#rows.keyNumber(key)
    const row = number === NONE ? NONE : this.#rows.find(number, from, 0)
    if (row !== NONE && this.#values.has(row)) this.#dropRow(row)
  }

  /** Takes out what nobody can ask for once nothing before `due` is asked for. */
  expire(due: number): void {
    for (let row = this.#byExpiry.first; row !== NONE && (this.#expiries[row] ?? 0) < due; row = this.#byExpiry.first)
      this.#dropRow(row)
  }

  endRecord(): void {
    this.#undo.endRecord()
  }

  rollbackRecord(): void {
    this.#undo.rollbackRecord(this.#undone, this.#forget)
  }

  commit(): void {
    this.#undo.commit(this.#forget)
  }

  abort(): void {
    this.#undo.abort(this.#undone, this.#forget)
  }

  clear(): void {
    this.#undo.clear()
    this.#byExpiry.clear()
    this.#rows.clear()
    this.#values.clear()
    this.#arena.clear()
    this.#bytes = 0
  }

  #versionOf(row: number): Version {
    const end = this.#values.timestampOf(row)
    return {
      from: this.#rows.timeOf(row),
      to: end < 0 ? -1 - end : end,
      value: end < 0 ? null : storedBytes(this.#values.get(row)),
    }
  }

  #dropRow(row: number): void {
    this.#leave(row, this.#values.sizeOf(row))
    this.#undo.remember(row)
    this.#values.unset(row)
  }

  /** Counts a row that has got a value, and gives it its place among those that expire. */
  #enter(row: number): void {
    const end = this.#values.timestampOf(row)
    const to = end < 0 ? -1 - end : end
    this.#expiries[row] = to === OPEN_END ? this.#rows.timeOf(row) : to
    this.#byExpiry.add(row)
    this.#bytes += this.#rows.keyLength(row) + this.#values.sizeOf(row)
  }

  /** The opposite, with the length of the value that goes. */
  #leave(row: number, valueBytes: number): void {
    this.#byExpiry.remove(row)
    this.#bytes -= this.#rows.keyLength(row) + valueBytes
  }

  /** Puts order and counter right after a row got its old value back. */
  readonly #undone = (row: number, sizeBefore: number, hadBefore: boolean): void => {
    if (hadBefore) this.#leave(row, sizeBefore)
    if (this.#values.has(row)) this.#enter(row)
  }

  readonly #forget = (row: number): void => {
    this.#rows.remove(row)
  }

  #reserve(row: number): void {
    if (row < this.#expiries.length) return
    const expiries = new Float64Array(Math.max(row + 1, this.#expiries.length * 2))
    expiries.set(this.#expiries)
    this.#expiries = expiries
  }
}
