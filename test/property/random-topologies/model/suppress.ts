import { compareKeys, idOf, type Flowing, type Key } from './flow.ts'
import { TableNode, type Held } from './tables.ts'

interface HeldUpdate {
  readonly record: Flowing
  /** Where it stands in the order: the end of its window, or the time of the first held update of its key. */
  readonly place: number
  /** What was told of the key before anything was held back. */
  readonly prior: unknown
}

/** Holds back updates of a table: for a time, or until windows are closed. */
export class Suppress extends TableNode {
  memory: { held: HeldUpdate[]; observed: number } = { held: [], observed: -1 }
  readonly #parent: TableNode
  readonly #wait: number
  readonly #isFinal: boolean
  readonly #maxRecords: number

  /** @param wait - how long after its place an update waits, by the time of those that arrive */
  constructor(
    parent: TableNode,
    { wait, isFinal, maxRecords }: { wait: number; isFinal: boolean; maxRecords: number },
  ) {
    super(parent.model)
    this.#parent = parent
    this.#wait = wait
    this.#isFinal = isFinal
    this.#maxRecords = maxRecords
    this.sendsOld = true
    parent.sendOld(true)
    parent.feeds(this)
  }

  override keep(): void {
    this.#parent.keep()
  }

  override sendOld(force: boolean): boolean {
    return this.#parent.sendOld(force)
  }

  /** What those behind it have seen of a key. */
  override get(key: Key): Held | undefined {
    const held = this.#of(key)
    if (held === undefined) return this.#parent.get(key)
    return held.prior === null ? undefined : { value: held.prior, time: -1 }
  }

  override process(record: Flowing): void {
    const { memory } = this
    const { key } = record
    memory.observed = Math.max(memory.observed, record.time)
    const before = this.#of(key)
    const place = this.#isFinal && typeof key === 'object' && key !== null ? key.end : record.time
    const update: HeldUpdate = {
      record,
      place: before?.place ?? place,
      prior: before === undefined ? record.old : before.prior,
    }
    memory.held = [...memory.held.filter(other => other !== before), update].toSorted(
      (left, right) => left.place - right.place || compareKeys(left.record.key, right.record.key),
    )
    while (this.#isDue() || this.memory.held.length > this.#maxRecords) this.#release()
  }

  #isDue(): boolean {
    const [first] = this.memory.held
    return first !== undefined && first.place <= this.memory.observed - this.#wait
  }

  #release(): void {
    const [first] = this.memory.held
    if (first === undefined) return
    // A final result is never a deletion.
    if (!this.#isFinal || first.record.value !== null) {
      this.release(() => {
        this.emit({ ...first.record, isLatest: true })
      })
    }
    this.memory.held = this.memory.held.filter(other => other !== first)
  }

  #of(key: Key): HeldUpdate | undefined {
    return this.memory.held.find(other => idOf(other.record.key) === idOf(key))
  }
}
