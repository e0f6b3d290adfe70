import { KeyedRows } from './keyed-rows.ts'
import { OrderedRows } from './ordered-rows.ts'

/**
 * Rows of a key, a time and a tag, all of them ordered by time. A window store's time is the start and its tag the sequence
 * number; a session store's are end and start.
 */
export class TimedRows extends KeyedRows {
  readonly #byTime = new OrderedRows(row => this.timeOf(row))

  /** Row with the lowest time, or −1. */
  get oldest(): number {
    return this.#byTime.first
  }

  override insert(key: number, time: number, tag: number): number {
    const row = super.insert(key, time, tag)
    this.#byTime.add(row)
    return row
  }

  override remove(row: number): void {
    this.#byTime.remove(row)
    super.remove(row)
  }

  /** Rows whose time is in `[from, to]`, by time; rows are not to come or go meanwhile. */
  scan(from: number, to: number): IterableIterator<number> {
    return this.#byTime.scan(from, to)
  }

  override clear(): void {
    super.clear()
    this.#byTime.clear()
  }
}
