import { idOf, ModelNode, type Flowing, type Key, type Model } from './flow.ts'

/** A value of a table, with its time. */
export interface Held {
  readonly value: unknown
  readonly time: number
}

/** A step whose result is a table. */
export abstract class TableNode extends ModelNode {
  /** Whether updates tell the value before. */
  sendsOld = false

  /** Asks for the values before; `force` gives a source a store for it. */
  sendOld(_force: boolean): boolean {
    this.sendsOld = true
    return true
  }

  /** Sees to it that present values can be read. */
  keep(): void {}

  /** The present value. */
  abstract get(key: Key): Held | undefined

  /** The value that held at a time; the present one where no versions are kept. */
  getAsOf(key: Key, _time: number): Held | undefined {
    return this.get(key)
  }

  get isVersioned(): boolean {
    return false
  }

  /** Gives up a record that came too late for every window. */
  protected giveUp(record: Flowing, topic: string | undefined): void {
    this.drop('late')
    if (topic !== undefined) this.model.send(topic, record)
  }

  /** What its store shows. */
  contents(): readonly Entry[] {
    return []
  }
}

/** An entry of a store. */
export interface Entry {
  readonly key: Key
  readonly value: unknown
  /** Time of the value, where the store shows one. */
  readonly time?: number
}

/** The present values of a table. */
export class Rows {
  readonly rows: Map<string, { key: Key; value: unknown; time: number }>

  constructor(rows: Map<string, { key: Key; value: unknown; time: number }>) {
    this.rows = rows
  }

  get(key: Key): Held | undefined {
    return this.rows.get(idOf(key))
  }

  put(key: Key, value: unknown, time: number): void {
    if (value === null) this.rows.delete(idOf(key))
    else this.rows.set(idOf(key), { key, value, time })
  }
}

export type RowMap = Map<string, { key: Key; value: unknown; time: number }>

/** Rows as entries. */
export function entriesOf(rows: RowMap): readonly Entry[] {
  return [...rows.values()]
}

/** A table read from a topic, or made of a stream. */
export class SourceTable extends TableNode {
  memory: { rows: RowMap } = { rows: new Map() }
  isKept: boolean

  constructor(model: Model, isKept: boolean) {
    super(model)
    this.isKept = isKept
  }

  override sendOld(force: boolean): boolean {
    if (!this.isKept && !force) return false
    this.isKept = true
    this.sendsOld = true
    return true
  }

  override keep(): void {
    this.isKept = true
  }

  override get(key: Key): Held | undefined {
    return new Rows(this.memory.rows).get(key)
  }

  override contents(): readonly Entry[] {
    return entriesOf(this.memory.rows)
  }

  override process(record: Flowing): void {
    const { key, value, time } = record
    if (key === null) {
      this.drop('nullKey')
      return
    }
    const old = this.get(key)?.value ?? null
    new Rows(this.memory.rows).put(key, value, time)
    this.emit({ ...record, old: this.sendsOld ? old : null })
  }
}

/** A filtered or mapped table, with a store of its own or made from its parent's values whenever it is asked. */
export class DerivedTable extends TableNode {
  memory: { rows: RowMap } = { rows: new Map() }
  readonly #parent: TableNode
  readonly #isFilter: boolean
  readonly #isStored: boolean
  readonly #change: (value: unknown, key: Key) => unknown

  /** @param change - gives the new value, or null for none; it never sees a null */
  constructor(
    parent: TableNode,
    options: { readonly isFilter: boolean; readonly isStored: boolean },
    change: (value: unknown, key: Key) => unknown,
  ) {
    super(parent.model)
    this.#parent = parent
    this.#isFilter = options.isFilter
    this.#isStored = options.isStored
    this.#change = change
    parent.feeds(this)
    // A filter that is told the values before spares deletions of what it never let through.
    if (this.#isFilter && parent.sendOld(false)) this.sendOld(false)
  }

  override sendOld(force: boolean): boolean {
    if (this.#isStored || this.#parent.sendOld(force)) this.sendsOld = true
    return this.sendsOld
  }

  override keep(): void {
    if (!this.#isStored) this.#parent.keep()
  }

  override get isVersioned(): boolean {
    return !this.#isStored && this.#parent.isVersioned
  }

  override get(key: Key): Held | undefined {
    return this.#isStored ? new Rows(this.memory.rows).get(key) : this.#changed(key, this.#parent.get(key))
  }

  override getAsOf(key: Key, time: number): Held | undefined {
    return this.#isStored ? this.get(key) : this.#changed(key, this.#parent.getAsOf(key, time))
  }

  override contents(): readonly Entry[] {
    return entriesOf(this.memory.rows)
  }

  override process(record: Flowing): void {
    const { key, time } = record
    const value = this.#changedValue(key, record.value)
    const old = this.sendsOld ? this.#before(record) : null
    if (this.#isFilter && this.sendsOld && !this.#parent.isVersioned && old === null && value === null) return
    if (this.#isStored) new Rows(this.memory.rows).put(key, value, time)
    this.emit({ ...record, value, old })
  }

  #before({ key, old }: Flowing): unknown {
    return this.#isStored ? (this.get(key)?.value ?? null) : this.#changedValue(key, old)
  }

  #changed(key: Key, held: Held | undefined): Held | undefined {
    const value = this.#changedValue(key, held?.value ?? null)
    return value === null || held === undefined ? undefined : { value, time: held.time }
  }

  #changedValue(key: Key, value: unknown): unknown {
    return value === null ? null : this.#change(value, key)
  }
}

/** In front of what wants news only: drops versions that are not the latest. */
export class LatestOnly extends ModelNode {
  memory = {}

  override process(record: Flowing): void {
    if (record.isLatest) this.emit(record)
    else this.drop('outOfOrderVersion')
  }
}

/** The place an operator is attached to that must take no old version for news. */
export function newsOf(table: TableNode): ModelNode {
  return table.isVersioned ? table.feeds(new LatestOnly(table.model)) : table
}
