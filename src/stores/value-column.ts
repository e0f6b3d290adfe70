import type { ErasedSerde } from '../serdes/erased-serde.ts'
import { bigint, boolean, double, integer, long } from '../serdes/numbers.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import { string, uuid } from '../serdes/text.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import type { ByteArena } from './byte-arena.ts'

const ENTRIES_MIN = 32

/** Serdes of immutable values: keeping the value itself is as good as keeping its bytes, and reading it costs nothing. */
const PRIMITIVE_SERDES: ReadonlySet<AnySerde> = new Set<AnySerde>([
  long,
  bigint,
  integer,
  double,
  boolean,
  string,
  uuid,
])

/** Whether a serde reads values that nobody can change in place. */
export function readsPrimitives(serde: AnySerde): boolean {
  return PRIMITIVE_SERDES.has(withoutNull(serde))
}

/**
 * The values of a store, indexed by entry number. A value is held as a token: the value itself if it is a primitive, else
 * where its bytes lie, because user code may change an object it was given. The undo log keeps tokens of older values.
 */
export class ValueColumn {
  readonly #serde: ErasedSerde
  readonly #context: SerdeContext
  /** Where bytes lie; `undefined` when tokens are the values themselves. */
  readonly #arena: ByteArena | undefined
  readonly #tokens: unknown[] = []
  #timestamps = new Float64Array(ENTRIES_MIN)
  /** Length of the value's bytes; −1 when there is no value. */
  #sizes = new Int32Array(ENTRIES_MIN).fill(-1)

  constructor(serde: AnySerde, context: SerdeContext, arena: ByteArena) {
    this.#serde = erasedSerde(serde)
    this.#context = context
    this.#arena = readsPrimitives(serde) ? undefined : arena
  }

  /** Makes room for entries below `capacity`. */
  reserve(capacity: number): void {
    while (this.#tokens.length < capacity) this.#tokens.push(undefined)
    if (capacity <= this.#sizes.length) return
    const length = Math.max(capacity, this.#sizes.length * 2)
    const timestamps = new Float64Array(length)
    timestamps.set(this.#timestamps)
    this.#timestamps = timestamps
    const sizes = new Int32Array(length).fill(-1, this.#sizes.length)
    sizes.set(this.#sizes)
    this.#sizes = sizes
  }

  has(entry: number): boolean {
    return (this.#sizes[entry] ?? -1) >= 0
  }

  /** The value of an entry that has one. */
  get(entry: number): unknown {
    const token = this.#tokens[entry]
    if (this.#arena === undefined) return token
    return this.#serde.deserialize(this.#arena.view(Number(token)), this.#context)
  }

  timestampOf(entry: number): number {
    return this.#timestamps[entry] ?? -1
  }

  /** Bytes of an entry's value; 0 without one. */
  sizeOf(entry: number): number {
    return Math.max(0, this.#sizes[entry] ?? 0)
  }

  /** Sets a value whose bytes are known; the old token is not freed. */
  set(entry: number, value: unknown, bytes: Uint8Array, timestamp: number): void {
    this.#tokens[entry] = this.#arena === undefined ? value : this.#arena.add(bytes)
    this.#timestamps[entry] = timestamp
    this.#sizes[entry] = bytes.length
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
    this.#tokens[entry] = undefined
    this.#sizes[entry] = -1
  }

  /** Takes the value away and frees it. */
  release(entry: number): void {
    if (this.has(entry)) this.freeToken(this.#tokens[entry])
    this.unset(entry)
  }

  /** What holds the value of an entry now; `undefined` when it has none. */
  tokenOf(entry: number): unknown {
    return this.#tokens[entry]
  }

  /** Gives an older value back; `size` −1 = it had none. */
  restoreToken(entry: number, token: unknown, size: number, timestamp: number): void {
    this.#tokens[entry] = token
    this.#sizes[entry] = size
    this.#timestamps[entry] = timestamp
  }

  /** As `sizeOf`, but −1 without a value. */
  rawSizeOf(entry: number): number {
    return this.#sizes[entry] ?? -1
  }

  freeToken(token: unknown): void {
    if (this.#arena !== undefined && token !== undefined) this.#arena.free(Number(token))
  }

  clear(): void {
    this.#tokens.length = 0
    this.#sizes.fill(-1)
  }
}
