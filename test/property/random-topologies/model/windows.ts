import type { Fold } from './aggregates.ts'
import { recordOf, type Flowing, type Headers, type Key, type Model, type WindowKey } from './flow.ts'
import { TableNode, type Entry, type Held } from './tables.ts'
import { TimedRows, type TimedMemory } from './timed-rows.ts'

/** What an aggregation in windows remembers: its windows by start, and the times each of its inputs has seen. */
interface WindowMemory extends TimedMemory {
  seen: number[]
  closed: number
}

/** What an aggregation in windows tells: every update or final results only, and late records. */
export interface Emission {
  readonly emitsFinal: boolean
  readonly late?: string | undefined
}

/** What aggregations in windows of a fixed size have in common. */
export abstract class WindowTable extends TableNode {
  memory: WindowMemory = { rows: [], observed: -1, seen: [], closed: -1 }
  protected readonly fold: Fold
  protected readonly emitsFinal: boolean
  /** End minus start. */
  protected readonly span: number
  /** Where late records go. */
  protected readonly late: string | undefined
  readonly #retention: number

  constructor(model: Model, options: Emission & { fold: Fold; span: number; retention: number }) {
    super(model)
    this.late = options.late
    this.fold = options.fold
    this.emitsFinal = options.emitsFinal
    this.span = options.span
    this.#retention = options.retention
  }

  get windows(): TimedRows {
    return new TimedRows(this.memory, this.#retention, this.emitsFinal)
  }

  override get(key: Key): Held | undefined {
    if (typeof key !== 'object' || key === null) return undefined
    const row = this.windows.get(key.key, key.start)
    return row === undefined ? undefined : { value: row.value, time: row.stamp }
  }

  override contents(): readonly Entry[] {
    return this.windows
      .all()
      .map(({ key, time, value }) => ({ key: typeof key === 'string' ? this.keyOf(key, time) : key, value }))
  }

  /** Notes the time of a record; gives the highest one that this input has seen. */
  protected see(time: number, side: number): number {
    const seen = Math.max(time, this.memory.seen[side] ?? -1)
    this.memory.seen[side] = seen
    return seen
  }

  protected keyOf(key: string, start: number): WindowKey {
    return { key, start, end: start + this.span, isSession: false }
  }

  /** Sets a window's value to that of an update of its key and tells of it, unless only final values are told. */
  protected set(update: Flowing, start: number, old: unknown): void {
    const { key, value, time } = update
    this.windows.put({ key, time: start, value, stamp: time })
    if (this.emitsFinal || typeof key !== 'string') return
    this.emit({ ...update, key: this.keyOf(key, start), old: this.sendsOld ? old : null })
  }

  /** Tells of all windows that have closed since the last time. What the store shows no more is lost and counted. */
  protected emitClosed(isClosed: (start: number) => boolean, closeTime: number, headers: Headers): void {
    if (!this.emitsFinal || closeTime <= this.memory.closed) return
    const shown = this.windows.all().filter(({ time }) => isClosed(time))
    const lost = this.memory.rows.filter(({ time }) => isClosed(time) && !this.windows.shows(time))
    for (const { time } of lost) if (!this.#wasClosed(time)) this.drop('windowNeverEmitted')
    const due = shown.filter(({ time }) => !this.#wasClosed(time))
    this.memory.closed = closeTime
    for (const { key, time, value, stamp } of due) {
      this.release(() => {
        if (typeof key === 'string') this.emit(recordOf(this.keyOf(key, time), value, stamp, headers))
      })
    }
  }

  /** Whether a window was closed when closed windows were looked for last. */
  #wasClosed(start: number): boolean {
    return this.isClosed(start, this.memory.closed)
  }

  protected abstract isClosed(start: number, closeTime: number): boolean
}

/** Tumbling and hopping windows. */
export class TimeWindowTable extends WindowTable {
  readonly #every: number
  readonly #grace: number

  constructor(
    model: Model,
    fold: Fold,
    { size, every, grace, ...emission }: Emission & { size: number; every: number; grace: number },
  ) {
    super(model, { ...emission, fold, span: size, retention: size + grace })
    this.#every = every
    this.#grace = grace
  }

  override process(record: Flowing, side: number): void {
    const { key, value, time, headers } = record
    if (typeof key !== 'string') {
      this.drop('nullKey')
      return
    }
    const closeTime = this.see(time, side) - this.#grace
    let isTaken = false
    for (let start = 0; start <= time; start += this.#every) {
      if (start + this.span <= time || this.isClosed(start, closeTime)) continue
      isTaken = true
      const held = this.windows.get(key, start)
      const before = held?.value ?? this.fold.initial
      const after = before === null ? value : this.fold.add(before, value, side)
      this.set(recordOf(key, after, Math.max(time, held?.stamp ?? time), headers), start, before)
    }
    if (!isTaken) this.giveUp(record, this.late)
    this.emitClosed(start => this.isClosed(start, closeTime), closeTime, headers)
  }

  protected override isClosed(start: number, closeTime: number): boolean {
    return start + this.span <= closeTime
  }
}
