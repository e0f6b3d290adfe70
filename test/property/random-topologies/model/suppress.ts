import { textOf } from '../user-functions.ts'
import type { Bounds } from '../plan.ts'
import { bytesOf, compareKeys, idOf, Stop, type Flowing, type Key } from './flow.ts'
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
  readonly #bounds: Bounds

  /** @param wait - how long after its place an update waits, by the time of those that arrive */
  constructor(parent: TableNode, { wait, isFinal, ...bounds }: Bounds & { wait: number; isFinal: boolean }) {
    super(parent.model)
    this.#parent = parent
    this.#wait = wait
    this.#isFinal = isFinal
    this.#bounds = bounds
    if (bounds.whenFull === 'stop') this.model.mayStop = true
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
    while (this.#isDue()) this.#release()
    if (this.#isFull() && this.#bounds.whenFull === 'stop') throw new Stop('SUPPRESS_BUFFER_FULL')
    while (this.#isFull()) this.#release()
  }

  #isDue(): boolean {
    const [first] = this.memory.held
    return first !== undefined && first.place <= this.memory.observed - this.#wait
  }

  #isFull(): boolean {
    const { held } = this.memory
    const bytes = held.reduce((sum, update) => sum + sizeOf(update), 0)
    return held.length > this.#bounds.maxRecords || bytes > this.#bounds.maxBytes
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

const LONG_BYTES = 8
const INT_BYTES = 4
/** Of the topics that are read. */
const TOPIC_CHARACTERS = 2

/** What Kafka Streams takes for the size of a held update in bytes; equal values before it count once. */
function sizeOf({ record, prior }: HeldUpdate): number {
  const { key, value, old, headers } = record
  const values = lengthOf(value) + lengthOf(prior) + (textOf(old) === textOf(prior) ? 0 : lengthOf(old))
  const time = LONG_BYTES
  const origin = 2 * LONG_BYTES + INT_BYTES + TOPIC_CHARACTERS
  const named = headers.reduce((sum, [name, held]) => sum + name.length + (held?.length ?? 0), 0)
  return time + bytesOf(key).length + values + origin + named
}

function lengthOf(value: unknown): number {
  if (value === null) return 0
  if (typeof value === 'number') return LONG_BYTES
  if (typeof value === 'boolean') return 1
  return value instanceof Uint8Array ? value.length : Buffer.from(textOf(value)).length
}
