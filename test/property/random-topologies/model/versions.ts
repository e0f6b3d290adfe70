import { idOf, type Flowing, type Key, type Model } from './flow.ts'
import { TableNode, type Held } from './tables.ts'

/** A value of a key from a time on; `null` is a deletion. */
interface Version {
  readonly from: number
  readonly value: unknown
}

/** All versions that ever came in time. */
export interface VersionMemory {
  byKey: Map<string, Version[]>
  observed: number
}

/** Every version of every key, and the rules of what a store with a history of `retention` ms takes and shows. */
export class Versions {
  readonly #memory: VersionMemory
  readonly #retention: number

  constructor(memory: VersionMemory, retention: number) {
    this.#memory = memory
    this.#retention = retention
  }

  /** Puts a version; tells whether it is the latest, an older one, or too old to be kept. */
  put(key: Key, value: unknown, time: number): 'latest' | 'older' | 'rejected' {
    const memory = this.#memory
    if (time < memory.observed - this.#retention) return 'rejected'
    memory.observed = Math.max(memory.observed, time)
    const versions = (memory.byKey.get(idOf(key)) ?? []).filter(({ from }) => from !== time)
    memory.byKey.set(
      idOf(key),
      [...versions, { from: time, value }].toSorted((left, right) => left.from - right.from),
    )
    return versions.every(({ from }) => from < time) ? 'latest' : 'older'
  }

  latest(key: Key): Held | undefined {
    return held(this.#memory.byKey.get(idOf(key))?.at(-1))
  }

  asOf(key: Key, time: number): Held | undefined {
    const versions = this.#memory.byKey.get(idOf(key)) ?? []
    const at = versions.findLastIndex(({ from }) => from <= time)
    // The latest is shown however long ago it was put; earlier ones as long as the history reaches.
    const isShown = at === versions.length - 1 || time >= this.#memory.observed - this.#retention
    return isShown ? held(versions[at]) : undefined
  }
}

function held(version: Version | undefined): Held | undefined {
  return version === undefined || version.value === null ? undefined : { value: version.value, time: version.from }
}

/** A table that keeps versions, read from a topic or made of a stream. */
export class VersionedTable extends TableNode {
  memory: VersionMemory = { byKey: new Map(), observed: -1 }
  readonly #retention: number

  constructor(model: Model, retention: number) {
    super(model)
    this.#retention = retention
  }

  override get isVersioned(): boolean {
    return true
  }

  override get(key: Key): Held | undefined {
    return new Versions(this.memory, this.#retention).latest(key)
  }

  override getAsOf(key: Key, time: number): Held | undefined {
    return new Versions(this.memory, this.#retention).asOf(key, time)
  }

  override process(record: Flowing): void {
    const { key, value, time } = record
    if (key === null) {
      this.drop('nullKey')
      return
    }
    const old = this.get(key)?.value ?? null
    const end = new Versions(this.memory, this.#retention).put(key, value, time)
    if (end === 'rejected') this.drop('outOfOrderVersion')
    else this.emit({ ...record, old: this.sendsOld ? old : null, isLatest: end === 'latest' })
  }
}
