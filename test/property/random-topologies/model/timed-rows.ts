import { compareKeys, idOf, type Key } from './flow.ts'

/** Something that was put under a key and a time. */
export interface TimedRow {
  readonly key: Key
  readonly time: number
  readonly value: unknown
  /** Time of the record that made the value. */
  readonly stamp: number
}

/** Everything that was put, in the order of arrival; a row of the same key and time is replaced only where that is said. */
export interface TimedMemory {
  rows: TimedRow[]
  observed: number
}

/** A history of `retention` ms by the highest time put: older rows are there no more. */
export class TimedRows {
  readonly #memory: TimedMemory
  readonly #oldest: number

  /** @param showsOldest - whether rows of exactly the retention's age are shown, as stores for final results do */
  constructor(memory: TimedMemory, retention: number, showsOldest = false) {
    this.#memory = memory
    this.#oldest = showsOldest ? retention : retention - 1
  }

  shows(time: number): boolean {
    return time >= this.#memory.observed - this.#oldest
  }

  /** Rows that are shown, by time, key and arrival. */
  all(): readonly TimedRow[] {
    return this.#memory.rows
      .filter(({ time }) => this.shows(time))
      .toSorted((left, right) => left.time - right.time || compareKeys(left.key, right.key))
  }

  /** Those of a key between two times. */
  of(key: Key, from: number, to: number): readonly TimedRow[] {
    return this.all().filter(row => idOf(row.key) === idOf(key) && row.time >= from && row.time <= to)
  }

  get(key: Key, time: number): TimedRow | undefined {
    return this.of(key, time, time)[0]
  }

  /** Adds a row beside those of the same key and time. */
  add(row: TimedRow): void {
    this.#memory.observed = Math.max(this.#memory.observed, row.time)
    if (this.shows(row.time)) this.#memory.rows.push(row)
  }

  /** Puts a row in the place of that of the same key and time; `null` only takes that one out. */
  put(row: TimedRow): void {
    this.#memory.rows = this.#memory.rows.filter(
      ({ key, time }) => idOf(key) !== idOf(row.key) || time !== row.time || !this.shows(time),
    )
    if (row.value === null) this.#memory.observed = Math.max(this.#memory.observed, row.time)
    else this.add(row)
  }
}
