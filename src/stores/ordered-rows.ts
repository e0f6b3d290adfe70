import { assert } from '../model/assert.ts'

const CHUNK_MAX = 512
const ROWS_MIN = 32

/**
 * Row numbers in the order of a time each row has, those of one time in the order of their arrival: sorted chunks, so that
 * an insertion moves at most one chunk. Rows come at the end and go at the beginning, as a rule; neither takes a search.
 */
export class OrderedRows {
  readonly #timeOf: (row: number) => number
  readonly #chunks: number[][] = []
  /** Rows at the beginning of the first chunk that are gone; it is cut only before it is searched. Never all of it. */
  #gone = 0
  /** Number of its arrival, by row. */
  #arrivals = new Float64Array(ROWS_MIN)
  #arrived = 0

  /** @param timeOf - gives the time of a row; it must not change while the row is held */
  constructor(timeOf: (row: number) => number) {
    this.#timeOf = timeOf
  }

  /** The row with the lowest time, or −1. */
  get first(): number {
    return this.#chunks[0]?.[this.#gone] ?? -1
  }

  add(row: number): void {
    this.#arrive(row)
    const time = this.#timeOf(row)
    const last = this.#chunks.at(-1)
    if (last === undefined || this.#timeOf(last.at(-1) ?? -1) <= time) {
      if (last !== undefined && last.length < CHUNK_MAX) last.push(row)
      else this.#chunks.push([row])
      return
    }
    this.#cut()
    const chunkAt = this.#chunkAtOrAfter(time, this.#arrived)
    const chunk = this.#chunks[chunkAt]
    assert(chunk !== undefined, 'a row before the last has a chunk', { row })
    chunk.splice(this.#indexIn(chunk, time, this.#arrived), 0, row)
    if (chunk.length > CHUNK_MAX) this.#chunks.splice(chunkAt + 1, 0, chunk.splice(CHUNK_MAX / 2))
  }

  remove(row: number): void {
    const [first] = this.#chunks
    if (first?.[this.#gone] === row) {
      this.#gone += 1
      if (this.#gone < first.length) return
      this.#chunks.shift()
      this.#gone = 0
      return
    }
    this.#cut()
    const time = this.#timeOf(row)
    const arrival = this.#arrivals[row] ?? 0
    const chunkAt = this.#chunkAtOrAfter(time, arrival)
    const chunk = this.#chunks[chunkAt]
    const index = chunk === undefined ? -1 : this.#indexIn(chunk, time, arrival)
    assert(chunk?.[index] === row, 'an ordered row is found by its time', { row })
    chunk.splice(index, 1)
    if (chunk.length === 0) this.#chunks.splice(chunkAt, 1)
  }

  /** Takes out all rows of the lowest time, in the order of their arrival. */
  takeFirst(): number[] {
    this.#cut()
    const taken: number[] = []
    const time = this.#timeOf(this.first)
    let [chunk] = this.#chunks
    while (chunk !== undefined && this.#timeOf(chunk.at(-1) ?? -1) === time) {
      for (const row of chunk) taken.push(row)
      this.#chunks.shift()
      ;[chunk] = this.#chunks
    }
    if (chunk !== undefined) {
      for (const row of chunk.splice(0, this.#indexIn(chunk, time, Number.POSITIVE_INFINITY))) taken.push(row)
    }
    return taken
  }

  /** Rows whose time is in `[from, to]`, by time; rows are not to come or go meanwhile. */
  *scan(from: number, to: number): IterableIterator<number> {
    this.#cut()
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
    this.#gone = 0
    this.#arrived = 0
  }

  #cut(): void {
    if (this.#gone === 0) return
    this.#chunks[0]?.splice(0, this.#gone)
    this.#gone = 0
  }

  #arrive(row: number): void {
    if (row >= this.#arrivals.length) {
      const arrivals = new Float64Array(Math.max(row + 1, this.#arrivals.length * 2))
      arrivals.set(this.#arrivals)
      this.#arrivals = arrivals
    }
    this.#arrived += 1
    this.#arrivals[row] = this.#arrived
  }

  /** Index of the first chunk whose last row is not before the place of a time and arrival. */
  #chunkAtOrAfter(time: number, arrival: number): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const last = this.#chunks[middle]?.at(-1) ?? -1
      if (this.#isBefore(last, time, arrival)) low = middle + 1
      else high = middle
    }
    return low
  }

  #indexIn(chunk: readonly number[], time: number, arrival: number): number {
    let low = 0
    let high = chunk.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isBefore(chunk[middle] ?? -1, time, arrival)) low = middle + 1
      else high = middle
    }
    return low
  }

  #isBefore(held: number, time: number, arrival: number): boolean {
    const heldTime = this.#timeOf(held)
    return heldTime < time || (heldTime === time && (this.#arrivals[held] ?? 0) < arrival)
  }
}
