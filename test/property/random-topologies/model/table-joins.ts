import { idOf, ModelNode, recordOf, type Flowing, type Key } from './flow.ts'
import { textOf } from '../user-functions.ts'
import type { JoinKind } from '../operations.ts'
import { entriesOf, newsOf, Rows, TableNode, type Entry, type Held, type RowMap } from './tables.ts'

type Joiner = (left: unknown, right: unknown, key: unknown) => unknown

const LEFT = 0
const RIGHT = 1

/** Entries of two tables under the same key. */
export class TableJoin extends TableNode {
  memory: { rows: RowMap } = { rows: new Map() }
  readonly #tables: readonly [left: TableNode, right: TableNode]
  readonly #kind: JoinKind
  readonly #joiner: Joiner
  readonly #isStored: boolean

  constructor(
    left: TableNode,
    right: TableNode,
    { kind, joiner, isStored }: { kind: JoinKind; joiner: Joiner; isStored: boolean },
  ) {
    super(left.model)
    this.#tables = [left, right]
    this.#kind = kind
    this.#joiner = joiner
    this.#isStored = isStored
    // Where a side may be missing, only the value before tells whether a deletion is news.
    if (kind !== 'inner') left.sendOld(true)
    if (kind === 'outer') right.sendOld(true)
    left.keep()
    right.keep()
    newsOf(left).feeds(this, LEFT)
    newsOf(right).feeds(this, RIGHT)
    this.reads.push(left, right)
  }

  override sendOld(): boolean {
    for (const table of this.#tables) table.sendOld(true)
    this.sendsOld = true
    return true
  }

  override keep(): void {
    for (const table of this.#tables) table.keep()
  }

  override get(key: Key): Held | undefined {
    if (this.#isStored) return new Rows(this.memory.rows).get(key)
    const left = this.#tables[LEFT].get(key)
    if (left === undefined && this.#kind !== 'outer') return undefined
    const right = this.#tables[RIGHT].get(key)
    const value = this.#join(left?.value ?? null, right?.value ?? null, key)
    return value === null ? undefined : { value, time: Math.max(left?.time ?? -1, right?.time ?? -1) }
  }

  override contents(): readonly Entry[] {
    return entriesOf(this.memory.rows)
  }

  override process({ key, value, old, time, headers }: Flowing, side: number): void {
    if (key === null) {
      this.drop('nullKey')
      return
    }
    const other = this.#tables[side === LEFT ? RIGHT : LEFT].get(key)
    const partner = other?.value ?? null
    const needsPartner = this.#kind === 'inner' || (this.#kind === 'left' && side === RIGHT)
    if (partner === null && (needsPartner || (value === null && old === null))) return
    const join = (own: unknown): unknown =>
      side === LEFT ? this.#join(own, partner, key) : this.#join(partner, own, key)
    const after = join(value)
    const joinedTime = Math.max(time, other?.time ?? -1)
    const before = this.sendsOld ? join(old) : null
    if (this.#isStored) new Rows(this.memory.rows).put(key, after, joinedTime)
    this.emit({ key, value: after, old: before, time: joinedTime, headers, isLatest: true })
  }

  #join(left: unknown, right: unknown, key: Key): unknown {
    const isComplete = {
      inner: left !== null && right !== null,
      left: left !== null,
      outer: left !== null || right !== null,
    }[this.#kind]
    return isComplete ? this.#joiner(left, right, key) : null
  }
}

/** What a row asks of the row it refers to. */
interface Subscription {
  readonly subscriber: string
  /** The row's value, by which it knows whether an answer still concerns it. */
  readonly asked: unknown
  readonly wish: 'forget' | 'forgetAndAnswer' | 'answer' | 'answerIfThere'
}

/** The answer: the value of the row referred to, and what had asked. */
interface Answer {
  readonly asked: unknown
  readonly found: unknown
}

/** The left side of a foreign-key join: tells rows of the other table who refers to them. */
export class Subscribe extends ModelNode {
  memory = {}
  readonly #foreignKey: (value: unknown) => string | null
  readonly #isLeft: boolean

  constructor(left: TableNode, foreignKey: (value: unknown) => string | null, isLeft: boolean) {
    super(left.model)
    this.#foreignKey = foreignKey
    this.#isLeft = isLeft
    newsOf(left).feeds(this)
  }

  override process({ key, value, old, time, headers }: Flowing): void {
    if (typeof key !== 'string' || (value === null && old === null)) return
    const from = old === null ? null : this.#foreignKey(old)
    const to = value === null ? null : this.#foreignKey(value)
    const tell = (whom: string | null, wish: Subscription['wish']): void => {
      const subscription: Subscription = { subscriber: key, asked: value, wish }
      this.emit(recordOf(whom, subscription, time, headers))
    }
    if (to === null && !this.#isLeft) {
      if (value !== null) this.drop('nullKey')
      if (from !== null) tell(from, 'forgetAndAnswer')
      return
    }
    const hasMoved = from !== null && from !== to
    if (hasMoved) tell(from, 'forget')
    tell(to, this.#isLeft || hasMoved ? 'answer' : 'answerIfThere')
  }
}

/** The right side: remembers who refers to its rows, answers them, and tells them of changes. */
export class Answering extends ModelNode {
  /** Subscribers and what they asked with, by the key they refer to. */
  memory: { subscribers: Map<string, Map<string, unknown>> } = { subscribers: new Map() }
  readonly #right: TableNode

  constructor(right: TableNode) {
    super(right.model)
    this.#right = right
    this.reads.push(right)
  }

  /** Side 0 brings subscriptions, side 1 updates of the table. */
  override process(record: Flowing, side: number): void {
    if (side === 0) this.#subscribe(record)
    else this.#tellAll(record)
  }

  #subscribe({ key, value, time, headers }: Flowing): void {
    const { subscriber, asked, wish } = asSubscription(value)
    const isOver = wish === 'forget' || wish === 'forgetAndAnswer'
    if (typeof key === 'string') {
      const subscribers = this.memory.subscribers.get(key) ?? new Map<string, unknown>()
      if (isOver) subscribers.delete(subscriber)
      else subscribers.set(subscriber, asked)
      this.memory.subscribers.set(key, subscribers)
    }
    const held = key === null ? undefined : this.#right.get(key)
    if (wish === 'forget' || (wish === 'answerIfThere' && held === undefined)) return
    const answer: Answer = { asked, found: isOver ? null : (held?.value ?? null) }
    this.emit(recordOf(subscriber, answer, Math.max(time, held?.time ?? -1), headers))
  }

  #tellAll({ key, value, time, headers }: Flowing): void {
    const subscribers = [...(this.memory.subscribers.get(idOf(key)) ?? [])]
    for (const [subscriber, asked] of subscribers.toSorted(([left], [right]) => (left < right ? -1 : 1)))
      this.emit(recordOf(subscriber, { asked, found: value }, time, headers))
  }
}

/** Makes results of the answers that still concern their row; the table they go to keeps them. */
export class Resolve extends ModelNode {
  memory = {}
  readonly #left: TableNode
  readonly #joiner: Joiner
  readonly #isLeft: boolean

  constructor(left: TableNode, joiner: Joiner, isLeft: boolean) {
    super(left.model)
    this.#left = left
    this.#joiner = joiner
    this.#isLeft = isLeft
    this.reads.push(left)
  }

  override process({ key, value, time, headers }: Flowing): void {
    const { asked, found } = asAnswer(value)
    const left = this.#left.get(key)?.value ?? null
    if (textOf(left) !== textOf(asked)) {
      this.drop('staleResponse')
      return
    }
    const isJoined = left !== null && (found !== null || this.#isLeft)
    this.emit(recordOf(key, isJoined ? this.#joiner(left, found, key) : null, time, headers))
  }
}

function asSubscription(value: unknown): Subscription
function asSubscription(value: unknown): unknown {
  return value
}

function asAnswer(value: unknown): Answer
function asAnswer(value: unknown): unknown {
  return value
}
