import { assert } from '../model/assert.ts'
import { ChunkWords } from './chunk-words.ts'
import type { KeyTable } from './key-table.ts'

const CHUNK_MAX = 512

/** Whose keys are ordered. */
export type OrderedKeys = Pick<KeyTable, 'keyAt' | 'compareKey' | 'compareKeys' | 'wordAt'>

/**
 * Entry numbers in the order of their keys' bytes: sorted chunks, so that an insertion moves at most one chunk. Built when a
 * store is scanned for the first time; stores that never scan pay nothing. Keys that begin with a time come and go at the
 * two ends, where they are found without a search.
 */
export class OrderedEntries {
  readonly #keys: OrderedKeys
  readonly #chunks: number[][] = []
  /** What tells the chunks apart without a look at their keys. */
  readonly #words: ChunkWords
  /** Changes with every insertion and removal, so that a running scan finds its place again. */
  #version = 0

  constructor(keys: OrderedKeys, entries: Iterable<number>) {
    this.#keys = keys
    const sorted = [...entries].toSorted((a, b) => keys.compareKeys(a, b))
    for (let at = 0; at < sorted.length; at += CHUNK_MAX / 2) this.#chunks.push(sorted.slice(at, at + CHUNK_MAX / 2))
    this.#words = new ChunkWords(keys, this.#chunks)
  }

  /** Takes in an entry whose key is not there. */
  add(entry: number): void {
    this.#version += 1
    this.#words.admit(entry)
    const lastAt = this.#chunks.length - 1
    const last = this.#chunks[lastAt]
    if (last === undefined || this.#keys.compareKeys(last.at(-1) ?? 0, entry) < 0) {
      if (last !== undefined && last.length < CHUNK_MAX) {
        last.push(entry)
        this.#words.changed(lastAt)
      } else {
        this.#chunks.push([entry])
        this.#words.inserted(lastAt + 1)
      }
      return
    }
    const chunkAt = this.#chunkOf(entry)
    const chunk = this.#chunks[chunkAt]
    assert(chunk !== undefined, 'a key before the last has a chunk', { entry })
    chunk.splice(this.#placeIn(chunk, entry), 0, entry)
    if (chunk.length <= CHUNK_MAX) return
    this.#chunks.splice(chunkAt + 1, 0, chunk.splice(CHUNK_MAX / 2))
    this.#words.changed(chunkAt)
    this.#words.inserted(chunkAt + 1)
  }

  remove(entry: number): void {
    this.#version += 1
    const chunkAt = this.#chunks[0]?.[0] === entry ? 0 : this.#chunkOf(entry)
    const chunk = this.#chunks[chunkAt]
    const index = chunk === undefined ? -1 : chunk[0] === entry ? 0 : this.#placeIn(chunk, entry)
    assert(chunk?.[index] === entry, 'an ordered entry is found by its key', { entry })
    const isLast = index === chunk.length - 1
    if (index === 0) chunk.shift()
    else chunk.splice(index, 1)
    if (chunk.length === 0) {
      this.#chunks.splice(chunkAt, 1)
      this.#words.removed(chunkAt)
    } else if (isLast) {
      this.#words.changed(chunkAt)
    }
  }

  /** Entries from one key to another, both included; `undefined` = open end. Goes on rightly when entries come and go meanwhile. */
  *scan(from: Uint8Array | undefined, to: Uint8Array | undefined): IterableIterator<number> {
    let [chunkAt, index] = from === undefined ? [0, 0] : this.#firstAtOrAfter(from)
    for (;;) {
      const entry = this.#chunks[chunkAt]?.[index]
      if (entry === undefined) {
        if (chunkAt >= this.#chunks.length) return
        chunkAt += 1
        index = 0
        continue
      }
      if (to !== undefined && this.#keys.compareKey(entry, to) > 0) return
      const key = this.#keys.keyAt(entry)
      const version = this.#version
      yield entry
      index += 1
      if (version === this.#version) continue
      ;[chunkAt, index] = this.#firstAtOrAfter(key)
      if (this.#chunks[chunkAt]?.[index] === entry) index += 1
    }
  }

  /** The same, backwards. */
  *scanBackwards(from: Uint8Array | undefined, to: Uint8Array | undefined): IterableIterator<number> {
    let [chunkAt, index] = to === undefined ? [this.#chunks.length, 0] : this.#firstAfter(to)
    for (;;) {
      index -= 1
      if (index < 0) {
        chunkAt -= 1
        const before = this.#chunks[chunkAt]
        if (before === undefined) return
        index = before.length
        continue
      }
      const entry = this.#chunks[chunkAt]?.[index]
      if (entry === undefined) return
      if (from !== undefined && this.#keys.compareKey(entry, from) < 0) return
      const key = this.#keys.keyAt(entry)
      const version = this.#version
      yield entry
      if (version !== this.#version) [chunkAt, index] = this.#firstAtOrAfter(key)
    }
  }

  /** Index of the chunk in which the key of an entry has its place; that key is not after all others. */
  #chunkOf(entry: number): number {
    const lastAt = this.#chunks.length - 1
    if (this.#keys.compareKeys(this.#chunks[lastAt]?.[0] ?? 0, entry) <= 0) return lastAt
    let { low, high } = this.#words.rangeOfEntry(entry)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keys.compareKeys(this.#chunks[middle]?.at(-1) ?? 0, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #placeIn(chunk: readonly number[], entry: number): number {
    let low = 0
    let high = chunk.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keys.compareKeys(chunk[middle] ?? 0, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Index of the first chunk whose last key is not before `key`. */
  #chunkAtOrAfter(key: Uint8Array): number {
    let { low, high } = this.#words.rangeOfKey(key)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keys.compareKey(this.#chunks[middle]?.at(-1) ?? 0, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #indexIn(chunk: readonly number[], key: Uint8Array): number {
    let low = 0
    let high = chunk.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keys.compareKey(chunk[middle] ?? 0, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #firstAtOrAfter(key: Uint8Array): [chunk: number, index: number] {
    const chunkAt = this.#chunkAtOrAfter(key)
    const chunk = this.#chunks[chunkAt]
    return [chunkAt, chunk === undefined ? 0 : this.#indexIn(chunk, key)]
  }

  #firstAfter(key: Uint8Array): [chunk: number, index: number] {
    const [chunkAt, index] = this.#firstAtOrAfter(key)
    const entry = this.#chunks[chunkAt]?.[index]
    return entry !== undefined && this.#keys.compareKey(entry, key) === 0 ? [chunkAt, index + 1] : [chunkAt, index]
  }
}
