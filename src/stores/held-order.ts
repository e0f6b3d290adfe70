import { assert } from '../model/assert.ts'
import type { KeyTable } from './key-table.ts'
import { sortByKey } from './key-sort.ts'
import { OrderedRows } from './ordered-rows.ts'

const ENTRIES_MIN = 32

/**
 * Entries in the order of their time and then of their keys' bytes, for taking out the first ones. Keys are compared only
 * once all entries of a time are due: a million windows that end together are sorted once.
 */
export class HeldOrder {
  readonly #keys: KeyTable
  #times = new Float64Array(ENTRIES_MIN)
  readonly #byTime = new OrderedRows(entry => this.#times[entry] ?? 0)
  /** All entries of the lowest time, by key, from `#firstAt` on; empty until the first one is asked for. */
  #due: number[] = []
  #firstAt = 0

  /** @param keys - the keys of the entries */
  constructor(keys: KeyTable) {
    this.#keys = keys
  }

  /** Lowest time, in ms; infinite without an entry. */
  get firstTime(): number {
    const first = this.#due[this.#firstAt] ?? this.#byTime.first
    return first === -1 ? Number.POSITIVE_INFINITY : (this.#times[first] ?? 0)
  }

  /** The first entry, or −1. */
  get first(): number {
    const due = this.#due[this.#firstAt]
    if (due !== undefined || this.#byTime.first === -1) return due ?? -1
    this.#due = this.#byTime.takeFirst()
    this.#firstAt = 0
    sortByKey(this.#due, this.#keys)
    return this.#due[0] ?? -1
  }

  add(entry: number, time: number): void {
    if (entry >= this.#times.length) {
      const times = new Float64Array(Math.max(entry + 1, this.#times.length * 2))
      times.set(this.#times)
      this.#times = times
    }
    this.#times[entry] = time
    const due = this.#due[this.#firstAt]
    const dueTime = due === undefined ? Number.NEGATIVE_INFINITY : (this.#times[due] ?? 0)
    if (time === dueTime) {
      this.#due.splice(this.#placeAmongDue(entry), 0, entry)
      return
    }
    if (time < dueTime) this.#putBack()
    this.#byTime.add(entry)
  }

  remove(entry: number): void {
    const due = this.#due[this.#firstAt]
    if (due === entry) {
      this.#firstAt += 1
      if (this.#firstAt === this.#due.length) this.#forgetDue()
    } else if (due !== undefined && this.#times[entry] === this.#times[due]) {
      const at = this.#placeAmongDue(entry)
      assert(this.#due[at] === entry, 'a due entry is found by its key', { entry })
      this.#due.splice(at, 1)
    } else {
      this.#byTime.remove(entry)
    }
  }

  clear(): void {
    this.#byTime.clear()
    this.#forgetDue()
  }

  /** An earlier entry came: the due ones are not the first any more. */
  #putBack(): void {
    for (let at = this.#firstAt; at < this.#due.length; at++) this.#byTime.add(this.#due[at] ?? -1)
    this.#forgetDue()
  }

  #forgetDue(): void {
    this.#due = []
    this.#firstAt = 0
  }

  #placeAmongDue(entry: number): number {
    let low = this.#firstAt
    let high = this.#due.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#keys.compareKeys(this.#due[middle] ?? -1, entry) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
