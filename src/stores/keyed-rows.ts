import type { KeyHashes } from '../model/key-hashes.ts'
import type { UpcomingKeys } from '../model/upcoming-keys.ts'
import type { ByteArena } from './byte-arena.ts'
import { IdleKeys } from './idle-keys.ts'
import { KeyTable } from './key-table.ts'

const ROWS_MIN = 32
const NONE = -1

/** A row: time and tag as doubles, then its neighbours, its key and that key's length as integers. Side by side, for the cache. */
const ROW_SHIFT = 2
const TAG = 1
const INTS_SHIFT = 3
const OLDER = 4
const NEWER = 5
const KEY = 6
const KEY_LENGTH = 7

/** Rows of a key, a time and a tag that tells rows of equal time apart: the rows of one key are linked in the order of time and tag. */
export class KeyedRows {
  readonly #keys: KeyTable
  readonly #idle = new IdleKeys()
  /** Newest row of a key, by the key's number. */
  #newest = new Int32Array(ROWS_MIN).fill(NONE)
  #table = new Float64Array(ROWS_MIN << ROW_SHIFT)
  /** The same memory. */
  #ints = new Int32Array(this.#table.buffer)
  readonly #free: number[] = []
  #rows = 0
  /** Where the last search ended: windows of one key are asked for one after the other. */
  #hint = NONE

  /**
   * @param arena - holds the keys; may hold other things too
   * @param hashes - may know what a key hashes to
   */
  constructor(arena: ByteArena, hashes?: KeyHashes) {
    this.#keys = new KeyTable(arena, hashes)
  }

  /** One more than the highest row number in use; columns need that length. */
  get capacity(): number {
    return this.#rows
  }

  /** Number of a key, or −1. */
  keyNumber(key: Uint8Array): number {
    return this.#keys.find(key)
  }

  /** Reads, for keys that come soon, their newest rows, and notes those. */
  lookAhead(keys: UpcomingKeys): void {
    this.#keys.lookAhead(keys)
    const { entries, count } = keys
    let touched = 0
    for (let at = 0; at < count; at++) entries[at] = this.#newest[entries[at] ?? NONE] ?? NONE
    for (let at = 0; at < count; at++) touched += this.#table[(entries[at] ?? NONE) << ROW_SHIFT] ?? 0
    keys.touched = touched
  }

  /** Number of a key, which is added if need be. */
  addKey(key: Uint8Array): number {
    const found = this.#keys.find(key)
    if (found !== NONE) return found
    for (let idle = this.#idle.next(this.#keys.size); idle !== NONE; idle = this.#idle.next(this.#keys.size)) {
      this.#keys.remove(idle)
    }
    const added = this.#keys.insert(key)
    if (added >= this.#newest.length) this.#newest = grown(this.#newest, added)
    this.#newest[added] = NONE
    return added
  }

  /** The last row of a key that is not after a time and tag, or −1. */
  locate(key: number, time: number, tag: number): number {
    const hint = this.#hint
    let row = hint !== NONE && this.#keyOf(hint) === key ? hint : (this.#newest[key] ?? NONE)
    if (row === NONE) return NONE
    if (this.#isAfter(row, time, tag)) {
      do row = this.olderOf(row)
      while (row !== NONE && this.#isAfter(row, time, tag))
    } else {
      for (;;) {
        const next = this.newerOf(row)
        if (next === NONE || this.#isAfter(next, time, tag)) break
        row = next
      }
    }
    if (row !== NONE) this.#hint = row
    return row
  }

  /** The row of exactly this key, time and tag, or −1. */
  find(key: number, time: number, tag: number): number {
    const row = this.locate(key, time, tag)
    return row !== NONE && this.timeOf(row) === time && this.tagOf(row) === tag ? row : NONE
  }

  /** Adds a row that is not there. */
  insert(key: number, time: number, tag: number): number {
    const older = this.locate(key, time, tag)
    const newer = older === NONE ? this.#oldestOf(key) : this.newerOf(older)
    if (older === NONE && newer === NONE) this.#idle.take(key, this.#keys.size)
    const row = this.#free.pop() ?? this.#nextRow()
    this.#table[row << ROW_SHIFT] = time
    this.#table[(row << ROW_SHIFT) + TAG] = tag
    this.#ints[(row << INTS_SHIFT) + OLDER] = older
    this.#ints[(row << INTS_SHIFT) + NEWER] = newer
    this.#ints[(row << INTS_SHIFT) + KEY] = key
    this.#ints[(row << INTS_SHIFT) + KEY_LENGTH] = this.#keys.keyLength(key)
    if (older !== NONE) this.#ints[(older << INTS_SHIFT) + NEWER] = row
    if (newer === NONE) this.#newest[key] = row
    else this.#ints[(newer << INTS_SHIFT) + OLDER] = row
    this.#hint = row
    return row
  }

  /** Removes a row; its number may be given out again. Its key is forgotten some time after its last row. */
  remove(row: number): void {
    const key = this.#keyOf(row)
    const older = this.olderOf(row)
    const newer = this.newerOf(row)
    if (older !== NONE) this.#ints[(older << INTS_SHIFT) + NEWER] = newer
    if (newer === NONE) this.#newest[key] = older
    else this.#ints[(newer << INTS_SHIFT) + OLDER] = older
    if (this.#hint === row) this.#hint = NONE
    this.#ints[(row << INTS_SHIFT) + KEY] = NONE
    this.#free.push(row)
    if (older === NONE && newer === NONE) this.#idle.add(key)
  }

  timeOf(row: number): number {
    return this.#table[row << ROW_SHIFT] ?? 0
  }

  tagOf(row: number): number {
    return this.#table[(row << ROW_SHIFT) + TAG] ?? 0
  }

  /** The next row of the same key, or −1. */
  newerOf(row: number): number {
    return this.#ints[(row << INTS_SHIFT) + NEWER] ?? NONE
  }

  /** The row before of the same key, or −1. */
  olderOf(row: number): number {
    return this.#ints[(row << INTS_SHIFT) + OLDER] ?? NONE
  }

  /** The first row of a key whose time is not below `time`, or −1. */
  firstFrom(key: number, time: number): number {
    const before = this.locate(key, time, Number.NEGATIVE_INFINITY)
    return before === NONE ? this.#oldestOf(key) : this.newerOf(before)
  }

  /** The key of a row; a view, valid until the row is removed. */
  keyAt(row: number): Buffer {
    return this.#keys.keyAt(this.#keyOf(row))
  }

  /** Bytes of the key of a row. */
  keyLength(row: number): number {
    return this.#ints[(row << INTS_SHIFT) + KEY_LENGTH] ?? 0
  }

  /** Forgets all rows and keys; the arena is the caller's to clear. */
  clear(): void {
    this.#keys.clear()
    this.#idle.clear()
    this.#newest.fill(NONE)
    this.#free.length = 0
    this.#rows = 0
    this.#hint = NONE
  }

  #keyOf(row: number): number {
    return this.#ints[(row << INTS_SHIFT) + KEY] ?? NONE
  }

  #isAfter(row: number, time: number, tag: number): boolean {
    const held = this.timeOf(row)
    return held > time || (held === time && this.tagOf(row) > tag)
  }

  /** Only asked for a place before all rows of a key, from where the search has just come. */
  #oldestOf(key: number): number {
    const hint = this.#hint
    let row = hint !== NONE && this.#keyOf(hint) === key ? hint : (this.#newest[key] ?? NONE)
    if (row === NONE) return NONE
    for (let older = this.olderOf(row); older !== NONE; older = this.olderOf(row)) row = older
    this.#hint = row
    return row
  }

  #nextRow(): number {
    const row = this.#rows
    if (row << ROW_SHIFT === this.#table.length) {
      const table = new Float64Array(this.#table.length * 2)
      table.set(this.#table)
      this.#table = table
      this.#ints = new Int32Array(table.buffer)
    }
    this.#rows += 1
    return row
  }
}

/** A copy with room for an index. */
function grown(array: Int32Array<ArrayBuffer>, index: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(index + 1, array.length * 2)).fill(NONE, array.length)
  larger.set(array)
  return larger
}
