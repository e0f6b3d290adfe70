import { assert } from '../model/assert.ts'

const CHUNK_MAX = 512

/**
 * Entry numbers in the order of their keys' bytes: sorted chunks, so that an insertion moves at most one chunk. Built when a
 * store is scanned for the first time; stores that never scan pay nothing.
 */
export class OrderedEntries {
  readonly #keyAt: (entry: number) => Buffer
  readonly #chunks: number[][] = []
  /** Changes with every insertion and removal, so that a running scan finds its place again. */
  #version = 0

  /** @param keyAt - gives the key of an entry */
  constructor(keyAt: (entry: number) => Buffer, entries: Iterable<number>) {
    this.#keyAt = keyAt
    const sorted = [...entries].toSorted((a, b) => Buffer.compare(keyAt(a), keyAt(b)))
    for (let at = 0; at < sorted.length; at += CHUNK_MAX / 2) this.#chunks.push(sorted.slice(at, at + CHUNK_MAX / 2))
  }

  /** The entry with the lowest key, or −1. */
  get first(): number {
    return this.#chunks[0]?.[0] ?? -1
  }

  add(entry: number): void {
    this.#version += 1
    const key = this.#keyAt(entry)
    const chunkAt = Math.min(this.#chunkAtOrAfter(key), Math.max(0, this.#chunks.length - 1))
    const chunk = this.#chunks[chunkAt]
    if (chunk === undefined) {
      this.#chunks.push([entry])
      return
    }
    chunk.splice(this.#indexIn(chunk, key), 0, entry)
    if (chunk.length > CHUNK_MAX) this.#chunks.splice(chunkAt + 1, 0, chunk.splice(CHUNK_MAX / 2))
  }

  remove(entry: number): void {
    this.#version += 1
    const key = this.#keyAt(entry)
    const chunkAt = this.#chunkAtOrAfter(key)
    const chunk = this.#chunks[chunkAt]
    const index = chunk === undefined ? -1 : this.#indexIn(chunk, key)
    assert(chunk?.[index] === entry, 'an ordered entry is found by its key', { entry })
    chunk.splice(index, 1)
    if (chunk.length === 0) this.#chunks.splice(chunkAt, 1)
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
      const key = this.#keyAt(entry)
      if (to !== undefined && Buffer.compare(key, to) > 0) return
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
      const key = this.#keyAt(entry)
      if (from !== undefined && Buffer.compare(key, from) < 0) return
      const version = this.#version
      yield entry
      if (version !== this.#version) [chunkAt, index] = this.#firstAtOrAfter(key)
    }
  }

  /** Index of the first chunk whose last key is not before `key`. */
  #chunkAtOrAfter(key: Uint8Array): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const last = this.#chunks[middle]?.at(-1)
      if (last !== undefined && Buffer.compare(this.#keyAt(last), key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #indexIn(chunk: readonly number[], key: Uint8Array): number {
    let low = 0
    let high = chunk.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const entry = chunk[middle]
      if (entry !== undefined && Buffer.compare(this.#keyAt(entry), key) < 0) low = middle + 1
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
    return entry !== undefined && Buffer.compare(this.#keyAt(entry), key) === 0
      ? [chunkAt, index + 1]
      : [chunkAt, index]
  }
}
