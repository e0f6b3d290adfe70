import type { KeyTable } from './key-table.ts'

const WORD_BYTES = 4
const HALF_WORD = 65_536
const NOTHING = Buffer.alloc(0)

/** Chunks from one index to another, the second not included. */
export interface ChunkRange {
  readonly low: number
  readonly high: number
}

/**
 * Six bytes of the last key of each sorted chunk, as numbers side by side: a search among a million keys would otherwise look
 * up keys all over the memory at each step. The bytes that all keys begin with are left out.
 */
export class ChunkWords {
  readonly #keys: Pick<KeyTable, 'keyAt' | 'wordAt'>
  readonly #chunks: readonly (readonly number[])[]
  #words: number[] = []
  /** What all keys begin with. */
  #prefix = NOTHING
  /** Number of chunks at which the prefix is looked for again: it may have grown. */
  #renewAt = 2

  /** @param chunks - entries in the order of their keys; the caller tells of every change of a last one */
  constructor(keys: Pick<KeyTable, 'keyAt' | 'wordAt'>, chunks: readonly (readonly number[])[]) {
    this.#keys = keys
    this.#chunks = chunks
    this.#renew()
  }

  /** To be called before an entry is added: its key may begin otherwise. */
  admit(entry: number): void {
    if (this.#prefix.length === 0) return
    const shared = sharedBytes(this.#prefix, this.#keys.keyAt(entry))
    if (shared < this.#prefix.length) this.#rebuild(this.#prefix.subarray(0, shared))
  }

  changed(chunkAt: number): void {
    this.#words[chunkAt] = this.#wordOf(this.#lastOf(chunkAt))
  }

  inserted(chunkAt: number): void {
    this.#words.splice(chunkAt, 0, this.#wordOf(this.#lastOf(chunkAt)))
    if (this.#chunks.length >= this.#renewAt) this.#renew()
  }

  removed(chunkAt: number): void {
    this.#words.splice(chunkAt, 1)
  }

  /** The first chunk whose last key is not before that of an entry is among these, or the one behind them. */
  rangeOfEntry(entry: number): ChunkRange {
    return this.#rangeOf(this.#wordOf(entry))
  }

  /** The same for a key, which need not begin as the others do. */
  rangeOfKey(key: Uint8Array): ChunkRange {
    const { length } = this.#prefix
    const shared = sharedBytes(this.#prefix, key)
    if (shared === length)
      return this.#rangeOf(wordAt(key, length) * HALF_WORD + (wordAt(key, length + WORD_BYTES) >>> 16))
    const isBefore = shared === key.length || (key[shared] ?? 0) < (this.#prefix[shared] ?? 0)
    const at = isBefore ? 0 : this.#words.length
    return { low: at, high: at }
  }

  #rangeOf(word: number): ChunkRange {
    const low = this.#firstNotBelow(word, 0)
    return { low, high: this.#words[low] === word ? this.#firstNotBelow(word + 1, low) : low }
  }

  #firstNotBelow(word: number, from: number): number {
    let low = from
    let high = this.#words.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#words[middle] ?? 0) < word) low = middle + 1
      else high = middle
    }
    return low
  }

  #renew(): void {
    this.#renewAt = Math.max(2, this.#chunks.length * 2)
    const first = this.#chunks[0]?.[0]
    if (first === undefined) return
    const key = this.#keys.keyAt(first)
    // In order, so what the first and the last share is shared by all.
    this.#rebuild(key.subarray(0, sharedBytes(key, this.#keys.keyAt(this.#lastOf(this.#chunks.length - 1)))))
  }

  #rebuild(prefix: Buffer): void {
    this.#prefix = Buffer.from(prefix)
    this.#words = this.#chunks.map((_, chunkAt) => this.#wordOf(this.#lastOf(chunkAt)))
  }

  #lastOf(chunkAt: number): number {
    return this.#chunks[chunkAt]?.at(-1) ?? 0
  }

  #wordOf(entry: number): number {
    const { length } = this.#prefix
    return this.#keys.wordAt(entry, length) * HALF_WORD + (this.#keys.wordAt(entry, length + WORD_BYTES) >>> 16)
  }
}

/** How many bytes two byte strings begin with alike. */
function sharedBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  let shared = 0
  while (shared < length && a[shared] === b[shared]) shared += 1
  return shared
}

function wordAt(bytes: Uint8Array, at: number): number {
  let word = 0
  for (let i = at; i < at + WORD_BYTES; i++) word = (word << 8) | (bytes[i] ?? 0)
  return word >>> 0
}
