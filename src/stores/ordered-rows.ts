import { assert } from '../model/assert.ts'

const CHUNK_MAX = 512

/**
 * Row numbers in the order of a time each row has: sorted chunks, so that an insertion moves at most one chunk. Rows that
 * come in order are only appended.
 */
export class OrderedRows {
  readonly #timeOf: (row: number) => number
  readonly #chunks: number[][] = []

  /** @param timeOf - gives the time of a row; it must not change while the row is held */
  constructor(timeOf: (row: number) => number) {
    this.#timeOf = timeOf
  }

  /** The row with the lowest time, or −1. */
  get first(): number {
    return this.#chunks[0]?.[0] ?? -1
  }

  add(row: number): void {
    const time = this.#timeOf(row)
    const chunkAt = Math.min(this.#chunkAtOrAfter(time, row), Math.max(0, this.#chunks.length - 1))
    const chunk = this.#chunks[chunkAt]
    if (chunk === undefined) {
      this.#chunks.push([row])
      return
    }
    const index = this.#indexIn(chunk, time, row)
    if (index === chunk.length) chunk.push(row)
    else chunk.splice(index, 0, row)
    if (chunk.length > CHUNK_MAX) this.#chunks.splice(chunkAt + 1, 0, chunk.splice(CHUNK_MAX / 2))
  }

  remove(row: number): void {
    const time = this.#timeOf(row)
    const chunkAt = this.#chunkAtOrAfter(time, row)
    const chunk = this.#chunks[chunkAt]
    const index = chunk === undefined ? -1 : this.#indexIn(chunk, time, row)
    assert(chunk?.[index] === row, 'an ordered row is found by its time', { row })
    chunk.splice(index, 1)
    if (chunk.length === 0) this.#chunks.splice(chunkAt, 1)
  }

  /** Rows whose time is in `[from, to]`, by time; rows are not to come or go meanwhile. */
  *scan(from: number, to: number): IterableIterator<number> {
    let chunkAt = this.#chunkAtOrAfter(from, -1)
    let index = this.#indexIn(this.#chunks[chunkAt] ?? [], from, -1)
    for (;;) {
      const chunk = this.#chunks[chunkAt]
      if (chunk === undefined) return
      for (; index < chunk.length; index++) {
        const row = chunk[index] ?? -1
        if (this.#timeOf(row) > to) return
        yield row
      }
      chunkAt += 1
      index = 0
    }
  }

  clear(): void {
    this.#chunks.length = 0
  }

  /** Index of the first chunk whose last row is not before the place of a time and row. */
  #chunkAtOrAfter(time: number, row: number): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const last = this.#chunks[middle]?.at(-1) ?? -1
      if (this.#isBefore(last, time, row)) low = middle + 1
      else high = middle
    }
    return low
  }

  #indexIn(chunk: readonly number[], time: number, row: number): number {
    const { length } = chunk
    if (length > 0 && this.#isBefore(chunk[length - 1] ?? -1, time, row)) return length
    let low = 0
    let high = length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isBefore(chunk[middle] ?? -1, time, row)) low = middle + 1
      else high = middle
    }
    return low
  }

  #isBefore(held: number, time: number, row: number): boolean {
    const heldTime = this.#timeOf(held)
    return heldTime < time || (heldTime === time && held < row)
  }
}
