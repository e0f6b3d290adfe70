import type { Fold } from './aggregates.ts'
import { recordOf, type Flowing, type Headers, type Model } from './flow.ts'
import type { TimedRow } from './timed-rows.ts'
import { WindowTable, type Emission } from './windows.ts'

/** A record that falls into windows. */
interface Falling {
  readonly key: string
  readonly value: unknown
  readonly time: number
  readonly side: number
  readonly headers: Headers
  /** Windows that end before it take nothing more. */
  readonly closeTime: number
}

/**
 * Sliding windows: one that ends with each record, and one that begins right after it once anything follows there. Both are
 * made of the windows that hold their records already.
 */
export class SlidingWindowTable extends WindowTable {
  readonly #grace: number

  constructor(
    model: Model,
    fold: Fold,
    { difference, grace, ...emission }: Emission & { difference: number; grace: number },
  ) {
    super(model, { ...emission, fold, span: difference, retention: 2 * difference + grace })
    this.#grace = grace
  }

  override process(flowing: Flowing, side: number): void {
    const { key, value, time, headers } = flowing
    if (typeof key !== 'string' || value === null) {
      this.drop(key === null ? 'nullKey' : 'nullValue')
      return
    }
    const closeTime = this.see(time, side) - this.#grace
    if (time + 1 + this.span <= closeTime) {
      this.giveUp(flowing, this.late)
      return
    }
    const record = { key, value, time, side, headers, closeTime }
    if (time < this.span) this.#early(record)
    else this.#usual(record)
    this.emitClosed(start => this.isClosed(start, closeTime), closeTime, headers)
  }

  protected override isClosed(start: number, closeTime: number): boolean {
    return start + this.span < closeTime
  }

  #usual(record: Falling): void {
    const { key, time } = record
    const known = this.windows.of(key, Math.max(0, time - 2 * this.span), time + 1).toReversed()
    const around = known.filter(row => row.time <= time && row.time + this.span >= time)
    const ending = around.find(row => row.time + this.span === time)
    const before = known.find(row => row.time + this.span < time)
    for (const row of around) this.#addTo(record, row)
    // Of two records of one time the first has made all windows there are.
    if (ending !== undefined && ending.stamp >= time) return
    const previous = before?.stamp ?? ending?.stamp
    if (previous !== undefined && previous + 1 + this.span >= time) this.#follow(record, known, previous)
    if (ending === undefined) {
      const start = time - this.span
      if (before === undefined || before.stamp < start) this.#begin(record, start)
      else this.#add(record, start, before.value, time)
    }
    this.#precede(
      record,
      known,
      around.find(row => row.time + this.span > time),
    )
  }

  /** Before time 0 nothing begins: all records up to the difference share the window that starts there. */
  #early(record: Falling): void {
    const { key, time } = record
    const known = this.windows.of(key, 0, time + 1)
    const shared = known.find(row => row.time === 0)
    const around = known.filter(row => row.time > 0 && row.time <= time)
    for (const row of around) this.#addTo(record, row)
    this.#precede(record, known, around.at(-1) ?? shared)
    if (shared !== undefined && shared.stamp < time) this.#follow(record, known, shared.stamp)
    if (shared === undefined) this.#begin(record, 0)
    else this.#addTo(record, shared)
  }

  /** The window right after the record before this one now has something in it: this record. */
  #follow(record: Falling, known: readonly TimedRow[], previous: number): void {
    if (known.every(row => row.time !== previous + 1)) this.#begin(record, previous + 1)
  }

  /** The window right after this record holds what came after it. */
  #precede({ key, time, headers }: Falling, known: readonly TimedRow[], later: TimedRow | undefined): void {
    if (later === undefined || later.stamp <= time || known.some(row => row.time === time + 1)) return
    this.set(recordOf(key, later.value, later.stamp, headers), time + 1, null)
  }

  #begin(record: Falling, start: number): void {
    this.#add(record, start, this.fold.initial, record.time)
  }

  #addTo(record: Falling, row: TimedRow): void {
    this.#add(record, row.time, row.value, row.stamp)
  }

  #add({ key, value, time, side, headers, closeTime }: Falling, start: number, before: unknown, stamp: number): void {
    if (this.isClosed(start, closeTime)) return
    const after = before === null ? value : this.fold.add(before, value, side)
    this.set(recordOf(key, after, before === null ? time : Math.max(time, stamp), headers), start, before)
  }
}
