import * as user from '../user-functions.ts'
import { idOf, ModelNode, recordOf, type Flowing, type Key, type Model, type PunctuationClock } from './flow.ts'

/** A step that remembers nothing: makes any number of records of one. */
export class Stateless extends ModelNode {
  memory = {}
  readonly #make: (record: Flowing) => readonly Flowing[]

  constructor(model: Model, make: (record: Flowing) => readonly Flowing[]) {
    super(model)
    this.#make = make
  }

  override process(record: Flowing): void {
    for (const made of this.#make(record)) this.emit(made)
  }
}

/** Gives each record to the first branch whose condition holds; the rest goes to the last one. */
export class Split extends ModelNode {
  memory = {}
  readonly #condition: (value: unknown, key: Key) => boolean

  constructor(model: Model, condition: (value: unknown, key: Key) => boolean) {
    super(model)
    this.#condition = condition
  }

  override process(record: Flowing): void {
    const branch = this.children[this.#condition(record.value, record.key) ? 0 : 1]
    branch?.node.process(record, 0)
  }
}

/** In front of a repartition topic: records without a key go no further, unless a join beyond it wants them. */
export class Keyed extends ModelNode {
  memory = {}

  override process(record: Flowing): void {
    if (record.key === null && !this.#isWanted()) this.drop('nullKey')
    else this.emit(record)
  }

  #isWanted(): boolean {
    const seen = new Set<ModelNode>([this])
    for (const node of seen) {
      if ('wantsKeyless' in node && node.wantsKeyless === true) return true
      for (const child of node.children) seen.add(child.node)
      const topic = 'topic' in node ? node.topic : undefined
      for (const source of this.model.sources) if (source.topic === topic) seen.add(source)
    }
    return false
  }
}

/** Lets the first record with an id through, and drops others within a time before and after it. */
export class Dedupe extends ModelNode {
  memory: { seen: { key: Key; id: string; time: number }[]; observed: number } = { seen: [], observed: -1 }
  readonly #idOf: (value: unknown) => string | null
  readonly #within: number

  constructor(model: Model, id: (value: unknown) => string | null, within: number) {
    super(model)
    this.#idOf = id
    this.#within = within
  }

  override process(record: Flowing): void {
    const { key, value, time } = record
    if (key === null || value === null) {
      this.drop(key === null ? 'nullKey' : 'nullValue')
      return
    }
    const id = this.#idOf(value)
    if (id !== null) {
      // Ids are kept so long that a record may be as late as it may be early.
      const kept = this.memory.observed - 2 * this.#within
      const isSeen = this.memory.seen.some(
        other =>
          other.key === key && other.id === id && other.time >= kept && Math.abs(other.time - time) <= this.#within,
      )
      if (isSeen) {
        this.drop('duplicate')
        return
      }
      this.memory.seen.push({ key, id, time })
      this.memory.observed = Math.max(this.memory.observed, time)
    }
    this.emit(record)
  }
}

/** The processor of `user-processor.ts`: numbers the records of a key, and tells the numbers from time to time. */
export class Numbering extends ModelNode {
  memory: { counts: Map<string, number>; next: number } = { counts: new Map(), next: 0 }
  readonly clock: PunctuationClock
  readonly #every: number
  readonly #keepsKey: boolean

  constructor(
    model: Model,
    { keepsKey, every, by }: { keepsKey: boolean; every: number | null; by: PunctuationClock },
  ) {
    super(model)
    this.clock = by
    this.#keepsKey = keepsKey
    this.#every = every === null || keepsKey ? Number.POSITIVE_INFINITY : every
  }

  /** By the wall clock it is told first after its interval, of a new process too. */
  begin(wallTime: number): void {
    if (this.clock === 'wallClock') this.memory.next = wallTime + this.#every
  }

  override process({ key, value, time, headers }: Flowing): void {
    const id = idOf(key)
    const count = (this.memory.counts.get(id) ?? 0) + 1
    this.memory.counts.set(id, count)
    this.emit(
      recordOf(
        this.#keepsKey ? key : `p${String(count % 2)}`,
        `${user.textOf(value)}#${String(count)}@${String(this.model.streamTime)}`,
        time,
        user.headersAfter(count, headers),
      ),
    )
  }

  get dueTime(): number {
    return Number.isFinite(this.#every) ? this.memory.next : Number.POSITIVE_INFINITY
  }

  advance(now: number): void {
    while (this.memory.next <= now) this.memory.next += this.#every
  }

  punctuate(now: number): void {
    const counts = [...this.memory.counts].toSorted(([left], [right]) => (left < right ? -1 : 1))
    for (const [key, count] of counts) this.emit(recordOf(key, `tick${String(count)}`, now, []))
  }
}
