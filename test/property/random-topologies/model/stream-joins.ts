import { compareKeys, ModelNode, recordOf, type Flowing, type Key, type Model } from './flow.ts'
import { TimedRows, type TimedMemory } from './timed-rows.ts'
import type { JoinKind } from '../operations.ts'
import type { TableNode } from './tables.ts'

const LEFT = 0
const RIGHT = 1

type Joiner = (left: unknown, right: unknown, key: unknown) => unknown

/** A record of an outer side that has no partner yet. */
interface Waiting {
  readonly record: Flowing
  readonly side: number
}

/** Pairs of records of two streams that are close in time. */
export class StreamJoin extends ModelNode {
  memory: { sides: [TimedMemory, TimedMemory]; time: number; waiting: Waiting[]; lookFrom: number } = {
    sides: [
      { rows: [], observed: -1 },
      { rows: [], observed: -1 },
    ],
    time: -1,
    waiting: [],
    lookFrom: Number.MAX_SAFE_INTEGER,
  }
  readonly #kind: JoinKind
  readonly #joiner: Joiner
  /** How far a partner may lie before and after a record of each side. */
  readonly #reach: readonly { readonly before: number; readonly after: number }[]
  readonly #grace: number

  constructor(
    model: Model,
    joiner: Joiner,
    { kind, before, after, grace }: { kind: JoinKind; before: number; after: number; grace: number },
  ) {
    super(model)
    this.#kind = kind
    this.#joiner = joiner
    this.#reach = [
      { before, after },
      { before: after, after: before },
    ]
    this.#grace = grace
  }

  get wantsKeyless(): boolean {
    return this.#kind !== 'inner'
  }

  override process(record: Flowing, side: number): void {
    const { memory } = this
    const { key, value, time } = record
    memory.time = Math.max(memory.time, time)
    if (key === null || value === null) {
      if (key === null && value !== null && this.#isOuter(side)) this.#tell(record, null, side, time)
      else this.drop(key === null ? 'nullKey' : 'nullValue')
      return
    }
    if (time === memory.time) this.#giveUpWaiting(record, side)
    const { before, after } = this.#reachOf(side)
    const partners = this.#rows(1 - side).of(key, time - before, time + after)
    for (const partner of partners) {
      memory.waiting = memory.waiting.filter(
        other => other.side === side || other.record.key !== key || other.record.time !== partner.time,
      )
      this.#tell(record, partner.value, side, Math.max(time, partner.time))
    }
    if (partners.length === 0 && this.#isOuter(side)) {
      if (time + after < memory.time) this.#tell(record, null, side, time)
      else this.#wait(record, side)
    }
    this.#rows(side).add({ key, time, value, stamp: time })
  }

  #isOuter(side: number): boolean {
    return this.#kind === 'outer' || (this.#kind === 'left' && side === LEFT)
  }

  #reachOf(side: number): { readonly before: number; readonly after: number } {
    return this.#reach[side] ?? { before: 0, after: 0 }
  }

  #rows(side: number): TimedRows {
    const { before, after } = this.#reachOf(LEFT)
    return new TimedRows(this.memory.sides[side === LEFT ? 0 : 1], before + after + this.#grace)
  }

  #tell({ key, value, headers }: Flowing, partner: unknown, side: number, time: number): void {
    const joined = side === LEFT ? this.#joiner(value, partner, key) : this.#joiner(partner, value, key)
    this.emit(recordOf(key, joined, time, headers))
  }

  #wait(record: Flowing, side: number): void {
    this.memory.waiting.push({ record, side })
    this.memory.lookFrom = Math.min(this.memory.lookFrom, record.time)
  }

  /**
   * Gives the results of records that nothing can come for any more, in the order of time, right ones first, and key. Like
   * Kafka Streams it gives them the headers of the record at work, looks at them only when the time it last stopped at says so, and stops where both sides still wait.
   */
  #giveUpWaiting({ headers }: Flowing, side: number): void {
    const { memory } = this
    if (memory.lookFrom + this.#reachOf(side).after + this.#grace >= memory.time) return
    memory.lookFrom = Number.MAX_SAFE_INTEGER
    const ordered = memory.waiting.toSorted(
      (left, right) =>
        left.record.time - right.record.time ||
        right.side - left.side ||
        compareKeys(left.record.key, right.record.key),
    )
    const stillWaits = new Set<number>()
    for (const waiting of ordered) {
      memory.lookFrom = waiting.record.time
      if (stillWaits.has(LEFT) && stillWaits.has(RIGHT)) return
      if (waiting.record.time + this.#reachOf(waiting.side).after + this.#grace >= memory.time) {
        stillWaits.add(waiting.side)
        continue
      }
      memory.waiting = memory.waiting.filter(other => other !== waiting)
      this.release(() => {
        this.#tell({ ...waiting.record, headers }, null, waiting.side, waiting.record.time)
      })
    }
  }
}

/** Each record of a stream with the value of a table: the present one, or that of its time where the table knows. */
export class StreamTableJoin extends ModelNode {
  memory: { waiting: Flowing[]; observed: number } = { waiting: [], observed: -1 }
  readonly #table: TableNode
  readonly #joiner: Joiner
  readonly #isLeft: boolean
  readonly #grace: number | null

  constructor(table: TableNode, joiner: Joiner, { isLeft, grace }: { isLeft: boolean; grace: number | null }) {
    super(table.model)
    this.#table = table
    this.#joiner = joiner
    this.#isLeft = isLeft
    this.#grace = grace
    table.keep()
    this.reads.push(table)
  }

  get wantsKeyless(): boolean {
    return this.#isLeft
  }

  override process(record: Flowing): void {
    const { key, value, time } = record
    if (value === null || (key === null && !this.#isLeft)) {
      this.drop(key === null ? 'nullKey' : 'nullValue')
      return
    }
    if (this.#grace === null) {
      this.#join(record)
      return
    }
    if (time < this.memory.observed - this.#grace) this.#join(record)
    else this.memory.waiting.push(record)
    this.memory.observed = Math.max(this.memory.observed, time)
    const due = this.memory.observed - this.#grace
    const ordered = this.memory.waiting.toSorted(
      (left, right) => left.time - right.time || compareKeys(left.key, right.key),
    )
    this.memory.waiting = ordered.filter(waiting => waiting.time > due)
    for (const waiting of ordered.filter(other => other.time <= due)) {
      this.release(() => {
        this.#join(waiting)
      })
    }
  }

  #join({ key, value, time, headers }: Flowing): void {
    const right = key === null ? undefined : this.#table.getAsOf(key, time)
    if (right !== undefined || this.#isLeft)
      this.emit(recordOf(key, this.#joiner(value, right?.value ?? null, key), time, headers))
  }
}

/** Each record of a stream with the value of a global table under a key of its choice. */
export class GlobalTableJoin extends ModelNode {
  memory = {}
  readonly #table: ReadonlyMap<string, unknown>
  readonly #selector: (value: unknown, key: Key) => string | null
  readonly #joiner: Joiner
  readonly #isLeft: boolean

  constructor(
    model: Model,
    table: ReadonlyMap<string, unknown>,
    selector: (value: unknown, key: Key) => string | null,
    { joiner, isLeft }: { joiner: Joiner; isLeft: boolean },
  ) {
    super(model)
    this.#table = table
    this.#selector = selector
    this.#joiner = joiner
    this.#isLeft = isLeft
  }

  get wantsKeyless(): boolean {
    return this.#isLeft
  }

  override process({ key, value, time, headers }: Flowing): void {
    const foreign = this.#selector(value, key)
    if (value === null || (foreign === null && !this.#isLeft)) {
      this.drop(foreign === null ? 'nullKey' : 'nullValue')
      return
    }
    const right = foreign === null ? null : (this.#table.get(foreign) ?? null)
    if (right !== null || this.#isLeft) this.emit(recordOf(key, this.#joiner(value, right, key), time, headers))
  }
}
