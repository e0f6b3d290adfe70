import type { KeyHashes } from '../model/key-hashes.ts'
import type { UpcomingKeys } from '../model/upcoming-keys.ts'
import type { ByteArena } from './byte-arena.ts'
import { KeyTable } from './key-table.ts'

const ROWS_MIN = 32
const NONE = -1

/** Rows of a key, a time and a tag that tells rows of equal time apart: the rows of one key are linked in the order of time and tag. */
export class KeyedRows {
  readonly #keys: KeyTable
  /** Newest row of a key, by the key's number. */
  #newest = new Int32Array(ROWS_MIN).fill(NONE)
  #keyOf = new Int32Array(ROWS_MIN).fill(NONE)
  #times = new Float64Array(ROWS_MIN)
  #tags = new Float64Array(ROWS_MIN)
  #older = new Int32Array(ROWS_MIN).fill(NONE)
  #newer = new Int32Array(ROWS_MIN).fill(NONE)
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
    for (let at = 0; at < count; at++) {
      const row = entries[at] ?? NONE
      touched += (this.#times[row] ?? 0) + (this.#tags[row] ?? 0) + (this.#keyOf[row] ?? 0) + (this.#newer[row] ?? 0)
    }
    keys.touched = touched
  }

  /** Number of a key, which is added if need be. A key without rows is to be taken back by `dropKey`. */
  addKey(key: Uint8Array): number {
    const found = this.#keys.find(key)
    if (found !== NONE) return found
    const added = this.#keys.insert(key)
    if (added >= this.#newest.length) this.#newest = grown(this.#newest, added)
    this.#newest[added] = NONE
    return added
  }

  /** The last row of a key that is not after a time and tag, or −1. */
  locate(key: number, time: number, tag: number): number {
    const hint = this.#hint
    let row = hint !== NONE && this.#keyOf[hint] === key ? hint : (this.#newest[key] ?? NONE)
    if (row === NONE) return NONE
    if (this.#isAfter(row, time, tag)) {
      do row = this.#older[row] ?? NONE
      while (row !== NONE && this.#isAfter(row, time, tag))
    } else {
      for (;;) {
        const next = this.#newer[row] ?? NONE
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
    return row !== NONE && this.#times[row] === time && this.#tags[row] === tag ? row : NONE
  }

  /** Adds a row that is not there. */
  insert(key: number, time: number, tag: number): number {
    const older = this.locate(key, time, tag)
    const newer = older === NONE ? this.#oldestOf(key) : (this.#newer[older] ?? NONE)
    const row = this.#free.pop() ?? this.#nextRow()
    this.#keyOf[row] = key
    this.#times[row] = time
    this.#tags[row] = tag
    this.#older[row] = older
    this.#newer[row] = newer
    if (older !== NONE) this.#newer[older] = row
    if (newer === NONE) this.#newest[key] = row
    else this.#older[newer] = row
    this.#hint = row
    return row
  }

  /** Removes a row, and its key with its last row. Its number may be given out again. */
  remove(row: number): void {
    const key = this.#keyOf[row] ?? NONE
    const older = this.#older[row] ?? NONE
    const newer = this.#newer[row] ?? NONE
    if (older !== NONE) this.#newer[older] = newer
    if (newer === NONE) this.#newest[key] = older
    else this.#older[newer] = older
    if (this.#hint === row) this.#hint = NONE
    this.#keyOf[row] = NONE
    this.#free.push(row)
    this.dropKey(key)
  }

  /** Forgets a key that has no row. */
  dropKey(key: number): void {
    if (this.#newest[key] === NONE) this.#keys.remove(key)
  }

  timeOf(row: number): number {
    return this.#times[row] ?? 0
  }

  tagOf(row: number): number {
    return this.#tags[row] ?? 0
  }

  /** The next row of the same key, or −1. */
  newerOf(row: number): number {
    return this.#newer[row] ?? NONE
  }

  /** The row before of the same key, or −1. */
  olderOf(row: number): number {
    return this.#older[row] ?? NONE
  }

  /** The first row of a key whose time is not below `time`, or −1. */
  firstFrom(key: number, time: number): number {
    const before = this.locate(key, time, Number.NEGATIVE_INFINITY)
    return before === NONE ? this.#oldestOf(key) : (this.#newer[before] ?? NONE)
  }

  /** The key of a row; a view, valid until the row is removed. */
  keyAt(row: number): Buffer {
    return this.#keys.keyAt(this.#keyOf[row] ?? NONE)
  }

  /** Forgets all rows and keys; the arena is the caller's to clear. */
  clear(): void {
    this.#keys.clear()
    this.#newest.fill(NONE)
    this.#free.length = 0
    this.#rows = 0
    this.#hint = NONE
  }

  #isAfter(row: number, time: number, tag: number): boolean {
    const held = this.#times[row] ?? 0
    return held > time || (held === time && (this.#tags[row] ?? 0) > tag)
  }

  /** Only asked for a place before all rows of a key, from where the search has just come. */
  #oldestOf(key: number): number {
    const hint = this.#hint
    let row = hint !== NONE && this.#keyOf[hint] === key ? hint : (this.#newest[key] ?? NONE)
    if (row === NONE) return NONE
    for (let older = this.#older[row] ?? NONE; older !== NONE; older = this.#older[row] ?? NONE) row = older
    this.#hint = row
    return row
  }

  #nextRow(): number {
    const row = this.#rows
    if (row === this.#keyOf.length) {
      this.#keyOf = grown(this.#keyOf, row)
      this.#older = grown(this.#older, row)
      this.#newer = grown(this.#newer, row)
      const times = new Float64Array(row * 2)
      times.set(this.#times)
      this.#times = times
      const tags = new Float64Array(row * 2)
      tags.set(this.#tags)
      this.#tags = tags
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
