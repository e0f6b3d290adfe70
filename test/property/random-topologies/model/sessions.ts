import type { Fold } from './aggregates.ts'
import {
  compareKeys,
  idOf,
  recordOf,
  type Flowing,
  type Headers,
  type Key,
  type Model,
  type WindowKey,
} from './flow.ts'
import { TableNode, type Entry, type Held } from './tables.ts'
import type { Emission } from './windows.ts'

/** Stores of sessions drop old ones by segments of at least this many ms. */
const SEGMENT_MS_MIN = 60_000

interface Session {
  readonly key: WindowKey
  readonly value: unknown
}

/** Windows of activity: records of a key that lie no further apart than the gap. */
export class SessionTable extends TableNode {
  memory: { sessions: Session[]; observed: number; seen: number[]; closed: number } = {
    sessions: [],
    observed: -1,
    seen: [],
    closed: -1,
  }
  readonly #fold: Fold
  readonly #gap: number
  readonly #grace: number
  readonly #emitsFinal: boolean
  readonly #late: string | undefined

  constructor(model: Model, fold: Fold, { gap, grace, emitsFinal, late }: Emission & { gap: number; grace: number }) {
    super(model)
    this.#fold = fold
    this.#gap = gap
    this.#grace = grace
    this.#emitsFinal = emitsFinal
    this.#late = late
  }

  override get(key: Key): Held | undefined {
    const session = this.shown.find(other => idOf(other.key) === idOf(key))
    return session === undefined ? undefined : { value: session.value, time: session.key.end }
  }

  /** Sessions that are shown, by end, start and key. */
  get shown(): readonly Session[] {
    return this.#from(this.memory.observed - this.#gap - this.#grace + 1)
  }

  override contents(): readonly Entry[] {
    return this.shown
  }

  override process(record: Flowing, side: number): void {
    const { key, value, time } = record
    if (typeof key !== 'string') {
      this.drop('nullKey')
      return
    }
    const seen = Math.max(time, this.memory.seen[side] ?? -1)
    this.memory.seen[side] = seen
    const closeTime = seen - this.#grace - this.#gap
    const near = this.shown.filter(
      other => other.key.key === key && other.key.end >= time - this.#gap && other.key.start <= time + this.#gap,
    )
    const start = Math.min(time, ...near.map(other => other.key.start))
    const end = Math.max(time, ...near.map(other => other.key.end))
    if (end < closeTime) this.giveUp(record, this.#late)
    else this.#grow({ key, start, end, isSession: true }, near, value, side)
    this.#emitClosed(closeTime, record.headers)
  }

  /** Puts one session in the place of those that a record has joined. */
  #grow(grown: WindowKey, near: readonly Session[], value: unknown, side: number): void {
    let total = this.#fold.initial
    for (const session of near) total = total === null ? session.value : this.#fold.merge(total, session.value)
    const isMoment = grown.start === grown.end
    if (!isMoment) {
      for (const { key, value: old } of near) {
        this.#put(key, null)
        this.#tell(key, null, old)
      }
    }
    const after = total === null ? value : this.#fold.add(total, value, side)
    this.#put(grown, after)
    this.#tell(grown, after, null)
  }

  #put(key: WindowKey, value: unknown): void {
    const { memory } = this
    memory.observed = Math.max(memory.observed, key.end)
    memory.sessions = memory.sessions.filter(other => idOf(other.key) !== idOf(key))
    if (value !== null) memory.sessions.push({ key, value })
  }

  /** Tells of an update, without headers. */
  #tell(key: WindowKey, value: unknown, old: unknown): void {
    if (this.#emitsFinal) return
    this.emit({ ...recordOf(key, value, key.end, []), old: this.sendsOld ? old : null })
  }

  #emitClosed(closeTime: number, headers: Headers): void {
    const { memory } = this
    if (!this.#emitsFinal || closeTime <= memory.closed || closeTime < 1) return
    const segment = Math.max(Math.trunc((this.#gap + this.#grace) / 2), SEGMENT_MS_MIN)
    const heldFrom = Math.floor((memory.observed - this.#gap - this.#grace) / segment) * segment
    const isDue = ({ key }: Session): boolean => key.end >= memory.closed && key.end < closeTime
    for (const session of memory.sessions)
      if (isDue(session) && session.key.end < heldFrom) this.drop('windowNeverEmitted')
    const due = this.#from(heldFrom).filter(isDue)
    memory.closed = closeTime
    for (const { key, value } of due) {
      this.release(() => {
        this.emit(recordOf(key, value, key.end, headers))
      })
    }
  }

  #from(end: number): readonly Session[] {
    return this.memory.sessions
      .filter(({ key }) => key.end >= end)
      .toSorted(
        (left, right) =>
          left.key.end - right.key.end || left.key.start - right.key.start || compareKeys(left.key, right.key),
      )
  }
}
