import type { UpcomingKeys } from '../model/upcoming-keys.ts'
import type { ErasedSerde } from '../serdes/erased-serde.ts'
import { double, integer, long } from '../serdes/numbers.ts'
import { withoutNull } from '../serdes/nullable.ts'
import { readsPrimitives } from '../serdes/primitives.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import type { ByteArena } from './byte-arena.ts'

const ENTRIES_MIN = 32

/** Serdes whose values are numbers: they stand in the rows themselves. */
const NUMBER_SERDES: ReadonlySet<AnySerde> = new Set<AnySerde>([long, integer, double])

/** A row: timestamp, value where it is a number, and mark as doubles, then the length of the value's bytes. Side by side, for the cache. */
const ROW_SHIFT = 2
const NUMBER = 1
const MARK = 2
const ROW_INTS_SHIFT = 3
const SIZE = 6

/**
 * The values of a store, indexed by entry number. A value is held as a token: the value itself if it is a primitive, else
 * where its bytes lie, because user code may change an object it was given. The undo log keeps tokens of older values.
 */
export class ValueColumn {
  readonly #serde: ErasedSerde
  readonly #context: SerdeContext
  /** Where bytes lie; `undefined` when tokens are the values themselves. */
  readonly #arena: ByteArena | undefined
  /** Whether values are numbers that stand in the rows. */
  readonly #isNumber: boolean
  readonly #tokens: unknown[] = []
  #rows = new Float64Array(ENTRIES_MIN << ROW_SHIFT)
  #ints = intsOf(this.#rows, 0)
  #reserved = ENTRIES_MIN
  /** Whether an entry may have lost its value since `hasGaps` was set back. */
  hasGaps = false

  constructor(serde: AnySerde, context: SerdeContext, arena: ByteArena) {
    this.#serde = erasedSerde(serde)
    this.#context = context
    this.#arena = readsPrimitives(serde) ? undefined : arena
    this.#isNumber = NUMBER_SERDES.has(withoutNull(serde))
  }

  /** Makes room for entries below `capacity`. */
  reserve(capacity: number): void {
    if (!this.#isNumber) while (this.#tokens.length < capacity) this.#tokens.push(undefined)
    if (capacity <= this.#reserved) return
    const reserved = Math.max(capacity, this.#reserved * 2)
    const rows = new Float64Array(reserved << ROW_SHIFT)
    rows.set(this.#rows)
    this.#ints = intsOf(rows, this.#reserved)
    this.#rows = rows
    this.#reserved = reserved
  }

  has(entry: number): boolean {
    return (this.#ints[(entry << ROW_INTS_SHIFT) + SIZE] ?? -1) >= 0
  }

  /** The value of an entry that has one. */
  get(entry: number): unknown {
    if (this.#isNumber) return this.#rows[(entry << ROW_SHIFT) + NUMBER]
    const token = this.#tokens[entry]
    if (this.#arena === undefined) return token
    return this.#serde.deserialize(this.#arena.view(Number(token)), this.#context)
  }

  /** Reads, for keys that come soon, the rows of the entries noted for them, and the beginnings of their values. */
  lookAhead(keys: UpcomingKeys): void {
    const { entries, count } = keys
    const rows = this.#rows
    let touched = 0
    for (let at = 0; at < count; at++) touched += rows[(entries[at] ?? -1) << ROW_SHIFT] ?? 0
    if (!this.#isNumber) for (let at = 0; at < count; at++) touched += this.#touchToken(entries[at] ?? -1)
    keys.touched = touched
  }

  #touchToken(entry: number): number {
    const token = entry === -1 ? undefined : this.#tokens[entry]
    if (typeof token === 'string') return token.length
    return this.#arena === undefined || token === undefined ? 0 : this.#arena.lengthOf(Number(token))
  }

  timestampOf(entry: number): number {
    return this.#rows[entry << ROW_SHIFT] ?? -1
  }

  /** Bytes of an entry's value; 0 without one. */
  sizeOf(entry: number): number {
    return Math.max(0, this.#ints[(entry << ROW_INTS_SHIFT) + SIZE] ?? 0)
  }

  /** What `setMark` set last; 0 at first. */
  markOf(entry: number): number {
    return this.#rows[(entry << ROW_SHIFT) + MARK] ?? 0
  }

  /** Notes a number of the undo log beside the entry's value. */
  setMark(entry: number, mark: number): void {
    this.#rows[(entry << ROW_SHIFT) + MARK] = mark
  }

  /** Sets a value whose bytes are known; the old token is not freed. */
  set(entry: number, value: unknown, bytes: Uint8Array, timestamp: number): void {
    const row = entry << ROW_SHIFT
    if (this.#isNumber) this.#rows[row + NUMBER] = Number(value)
    else this.#tokens[entry] = this.#arena === undefined ? value : this.#arena.add(bytes)
    this.#rows[row] = timestamp
    this.#ints[(entry << ROW_INTS_SHIFT) + SIZE] = bytes.length
  }

  /** Sets a value from its bytes, as a restore has it; the old token is not freed. */
  setBytes(entry: number, bytes: Buffer, timestamp: number): void {
    this.set(
      entry,
      this.#arena === undefined ? this.#serde.deserialize(bytes, this.#context) : undefined,
      bytes,
      timestamp,
    )
  }

  /** Takes the value away; its token is not freed. */
  unset(entry: number): void {
    this.hasGaps = true
    if (!this.#isNumber) this.#tokens[entry] = undefined
    this.#ints[(entry << ROW_INTS_SHIFT) + SIZE] = -1
  }

  /** Takes the value away and frees it. */
  release(entry: number): void {
    if (this.#arena !== undefined && this.has(entry)) this.freeToken(this.#tokens[entry])
    this.unset(entry)
  }

  /** What holds the value of an entry now; `undefined` when it has none. */
  tokenOf(entry: number): unknown {
    if (!this.#isNumber) return this.#tokens[entry]
    return this.has(entry) ? this.#rows[(entry << ROW_SHIFT) + NUMBER] : undefined
  }

  /** Gives an older value back; `size` −1 = it had none. */
  restoreToken(entry: number, token: unknown, size: number, timestamp: number): void {
    if (this.#isNumber) this.#rows[(entry << ROW_SHIFT) + NUMBER] = Number(token)
    else this.#tokens[entry] = token
    this.#rows[entry << ROW_SHIFT] = timestamp
    this.#ints[(entry << ROW_INTS_SHIFT) + SIZE] = size
  }

  /** As `sizeOf`, but −1 without a value. */
  rawSizeOf(entry: number): number {
    return this.#ints[(entry << ROW_INTS_SHIFT) + SIZE] ?? -1
  }

  /** Whether older values hold memory that is to be freed. */
  get freesTokens(): boolean {
    return this.#arena !== undefined
  }

  freeToken(token: unknown): void {
    if (this.#arena !== undefined && token !== undefined) this.#arena.free(Number(token))
  }

  clear(): void {
    this.#tokens.length = 0
    this.#rows = new Float64Array(ENTRIES_MIN << ROW_SHIFT)
    this.#ints = intsOf(this.#rows, 0)
    this.#reserved = ENTRIES_MIN
  }
}

/** The same rows as integers; those from `first` on have no value yet. */
function intsOf(rows: Float64Array<ArrayBuffer>, first: number): Int32Array {
  const ints = new Int32Array(rows.buffer)
  for (let at = (first << ROW_INTS_SHIFT) + SIZE; at < ints.length; at += 1 << ROW_INTS_SHIFT) ints[at] = -1
  return ints
}
