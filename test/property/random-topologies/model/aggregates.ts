import { ModelNode, recordOf, type Flowing, type Key, type Model } from './flow.ts'
import { entriesOf, Rows, TableNode, type Entry, type Held, type RowMap } from './tables.ts'
import { Versions, type VersionMemory } from './versions.ts'

/** How values become one. `initial` is null where the first value starts. */
export interface Fold {
  readonly initial: unknown
  /** Adds a value that came from an input. */
  readonly add: (total: unknown, value: unknown, side: number) => unknown
  /** Takes a value out. */
  readonly subtract: (total: unknown, value: unknown) => unknown
  /** Joins the totals of two sessions. */
  readonly merge: (left: unknown, right: unknown) => unknown
}

/** The results of an aggregation, with versions or without. */
abstract class Results extends TableNode {
  memory: { rows: RowMap; versions: VersionMemory } = { rows: new Map(), versions: { byKey: new Map(), observed: -1 } }
  readonly #history: number | null

  constructor(model: Model, history: number | null) {
    super(model)
    this.#history = history
  }

  override get isVersioned(): boolean {
    return this.#history !== null
  }

  override get(key: Key): Held | undefined {
    return this.#history === null
      ? new Rows(this.memory.rows).get(key)
      : new Versions(this.memory.versions, this.#history).latest(key)
  }

  override getAsOf(key: Key, time: number): Held | undefined {
    return this.#history === null ? this.get(key) : new Versions(this.memory.versions, this.#history).asOf(key, time)
  }

  override contents(): readonly Entry[] {
    return entriesOf(this.memory.rows)
  }

  /** Puts the result of a key and tells of it. */
  protected put({ key, headers }: Flowing, value: unknown, time: number, old: unknown): void {
    let isLatest = true
    if (this.#history === null) {
      new Rows(this.memory.rows).put(key, value, time)
    } else {
      const end = new Versions(this.memory.versions, this.#history).put(key, value, time)
      if (end === 'rejected') {
        this.drop('outOfOrderVersion')
        return
      }
      isLatest = end === 'latest'
    }
    this.emit({ key, value, old: this.sendsOld ? old : null, time, headers, isLatest })
  }
}

/** `count`, `reduce`, `aggregate` of a grouped stream, and of several in a cogroup. */
export class Aggregate extends Results {
  readonly #fold: Fold

  constructor(model: Model, fold: Fold, history: number | null) {
    super(model, history)
    this.#fold = fold
  }

  override process(record: Flowing, side: number): void {
    const { key, value, time } = record
    if (key === null || value === null) {
      this.drop(key === null ? 'nullKey' : 'nullValue')
      return
    }
    const held = this.get(key)
    // The first total of a key has the initial one before it, as in Kafka Streams.
    const before = held?.value ?? this.#fold.initial
    const after = before === null ? value : this.#fold.add(before, value, side)
    this.put(record, after, Math.max(time, held?.time ?? time), before)
  }
}

/** What a table's update is to its groups: the old group loses the old value, the new one gets the new value. */
export interface GroupChange {
  readonly out: unknown
  readonly in: unknown
}

/** Tells the groups of a table of a change. */
export class GroupSelect extends ModelNode {
  memory = {}
  readonly #grouper: (value: unknown, key: Key) => readonly [group: string | null, value: unknown]

  constructor(model: Model, grouper: (value: unknown, key: Key) => readonly [group: string | null, value: unknown]) {
    super(model)
    this.#grouper = grouper
  }

  override process(record: Flowing): void {
    const { key, value, old } = record
    const [from, out] = this.#of(key, old)
    const [to, into] = this.#of(key, value)
    if (from !== null && from === to) {
      this.#tell(record, from, { out, in: into })
      return
    }
    if (from !== null) this.#tell(record, from, { out, in: null })
    if (to !== null) this.#tell(record, to, { out: null, in: into })
  }

  #of(key: Key, value: unknown): readonly [group: string | null, value: unknown] {
    return value === null ? [null, null] : this.#grouper(value, key)
  }

  #tell({ time, headers }: Flowing, group: string, change: GroupChange): void {
    this.emit(recordOf(group, change, time, headers))
  }
}

/** `count`, `reduce`, `aggregate` of a grouped table. */
export class GroupAggregate extends Results {
  readonly #fold: Fold

  constructor(model: Model, fold: Fold) {
    super(model, null)
    this.#fold = fold
  }

  override process(record: Flowing): void {
    const { key, value, time } = record
    const change = asChange(value)
    const held = this.get(key)
    let total: unknown = held?.value ?? null
    if (change.out !== null && total !== null) total = this.#fold.subtract(total, change.out)
    if (change.in !== null) {
      const before = total ?? this.#fold.initial
      total = before === null ? change.in : this.#fold.add(before, change.in, 0)
    }
    this.put(record, total, Math.max(time, held?.time ?? time), held?.value ?? null)
  }
}

function asChange(value: unknown): GroupChange {
  if (typeof value === 'object' && value !== null && 'in' in value && 'out' in value) return value
  throw new TypeError('a grouped table tells of changes')
}
