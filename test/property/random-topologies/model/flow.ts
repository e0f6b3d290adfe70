import type { Header } from '../user-functions.ts'

/** The key of a window, or of a session. */
export interface WindowKey {
  readonly key: string
  readonly start: number
  readonly end: number
  readonly isSession: boolean
}

export type Key = string | WindowKey | null

/** The headers of a record, in their order. */
export type Headers = readonly Header[]

/** A record on its way: of a stream, or an update of a table with the value before. */
export interface Flowing {
  readonly key: Key
  readonly value: unknown
  /** The value before, where the table tells it. */
  readonly old: unknown
  readonly time: number
  readonly headers: Headers
  /** Whether no later version of the key is known; only tables with versions tell otherwise. */
  readonly isLatest: boolean
}

/** A record of a stream. */
export function recordOf(key: Key, value: unknown, time: number, headers: Headers): Flowing {
  return { key, value, old: null, time, headers, isLatest: true }
}

/** A step of the model. What it knows of earlier records is plain data in `memory`, so that it can be copied. */
export abstract class ModelNode {
  readonly model: Model
  readonly children: { readonly node: ModelNode; readonly side: number }[] = []
  /** Nodes whose memory it reads: they belong to the same task. */
  readonly reads: ModelNode[] = []
  abstract memory: object
  saved: object = {}

  constructor(model: Model) {
    this.model = model
    model.nodes.push(this)
  }

  abstract process(record: Flowing, side: number): void

  /** Lets a node follow; `side` tells its inputs apart. */
  feeds<N extends ModelNode>(node: N, side = 0): N {
    this.children.push({ node, side })
    return node
  }

  /** Lets go of a result that was held back. */
  release(handOn: () => void): void {
    this.model.release(handOn)
  }

  emit(record: Flowing): void {
    for (const { node, side } of this.children) node.process(record, side)
  }

  drop(reason: string): void {
    this.model.drop(reason)
  }
}

/** A topic with one partition that a task reads. */
export class Source extends ModelNode {
  memory = {}
  readonly topic: string
  readonly isInternal: boolean
  readonly log: Flowing[] = []
  taken = 0
  committed = 0
  committedLength = 0

  constructor(model: Model, topic: string, isInternal: boolean) {
    super(model)
    this.topic = topic
    this.isInternal = isInternal
    model.sources.push(this)
  }

  get head(): Flowing | undefined {
    return this.log[this.taken]
  }

  override process(record: Flowing): void {
    this.emit(record)
  }
}

/** Writes to a topic. */
export class Sink extends ModelNode {
  memory = {}
  readonly topic: string

  constructor(model: Model, topic: string) {
    super(model)
    this.topic = topic
  }

  override process(record: Flowing): void {
    this.model.send(this.topic, record)
  }
}

export type PunctuationClock = 'streamTime' | 'wallClock'

/** A step that something happens in by itself, when time has passed. */
export interface Punctual {
  readonly clock: PunctuationClock
  /** When it happens next. */
  readonly dueTime: number
  /** A process begins, at a time of the wall clock. */
  begin(wallTime: number): void
  /** Sets the next time. */
  advance(now: number): void
  punctuate(now: number): void
}

/** The time a task has seen. */
class Task {
  readonly sources: readonly Source[]
  readonly punctual: readonly (ModelNode & Punctual)[]
  readonly nodes: ReadonlySet<ModelNode>

  constructor(nodes: ReadonlySet<ModelNode>) {
    this.nodes = nodes
    this.sources = [...nodes].filter(node => node instanceof Source)
    this.punctual = [...nodes].filter(node => isPunctual(node))
  }

  /** The source whose next record comes first: the earliest, and of equal ones that of the first source. */
  get next(): Source | undefined {
    let next: Source | undefined
    for (const source of this.sources)
      if (source.head !== undefined && source.head.time < (next?.head?.time ?? Number.POSITIVE_INFINITY)) next = source
    return next
  }

  /** What is due; what has been so for longest comes first. */
  dueBy(clock: PunctuationClock, now: number): Punctual | undefined {
    const [first] = this.punctual
      .filter(punctual => punctual.clock === clock)
      .toSorted((left, right) => left.dueTime - right.dueTime)
    return first !== undefined && first.dueTime <= now ? first : undefined
  }

  /** The highest time of its records so far. */
  get streamTime(): number {
    return Math.max(-1, ...this.sources.flatMap(({ log, taken }) => log.slice(0, taken).map(({ time }) => time)))
  }
}

/** Thrown for what stops an application whatever its policies; the message is the code. */
export class Stop extends Error {}

/** A topology as a graph of steps, and the records that were sent to its topics and by it. */
export class Model {
  readonly nodes: ModelNode[] = []
  readonly sources: Source[] = []
  readonly sent: { readonly topic: string; readonly record: Flowing }[] = []
  readonly dropped = new Map<string, number>()
  /** The time that the task at work has seen. */
  streamTime = -1
  /** Whether a record whose processing fails is passed over. */
  skipsFailures = false
  /** Whether a step may stop it. */
  mayStop = false
  /** Results let go of by the record at work, the one being handed on, and those that failed before. */
  #releases = 0
  #releasing: number | undefined
  #failed = new Set<number>()
  #committedSent = 0
  #wallTime = 0
  #tasks: readonly Task[] = []

  /** The topology is complete. */
  begin(): void {
    this.#tasks = tasksOf(this.sources, this.nodes).map(nodes => new Task(nodes))
    this.#beginProcess()
    this.commit()
  }

  pipe(topic: string, record: Flowing): void {
    this.sources.find(source => source.topic === topic)?.log.push(record)
    this.#drain()
  }

  /** Moves the wall clock: each task does what has become due, and then what follows from that. */
  advanceWallClock(ms: number): void {
    this.#wallTime += ms
    for (const task of this.#tasks) this.#punctuate(task, 'wallClock', this.#wallTime)
    this.#drain()
  }

  send(topic: string, record: Flowing): void {
    this.sent.push({ topic, record })
    this.sources.find(source => source.topic === topic)?.log.push(record)
  }

  drop(reason: string): void {
    this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + 1)
  }

  commit(): void {
    for (const node of this.nodes) node.saved = structuredClone(node.memory)
    for (const source of this.sources) {
      source.committed = source.taken
      source.committedLength = source.log.length
    }
    this.#committedSent = this.sent.length
  }

  /** Everything since the commit has never been, but for what others wrote to its inputs: that is read again. */
  abort(): void {
    this.#takeBack()
    this.#drain()
  }

  /** As an abort, in a new process. */
  restart(): void {
    this.#takeBack()
    this.#beginProcess()
    this.#drain()
  }

  #beginProcess(): void {
    for (const node of this.#tasks.flatMap(({ punctual }) => punctual)) {
      node.begin(this.#wallTime)
      node.saved = structuredClone(node.memory)
    }
  }

  #takeBack(): void {
    for (const node of this.nodes) node.memory = structuredClone(node.saved)
    for (const source of this.sources) {
      if (source.isInternal) source.log.length = source.committedLength
      source.taken = source.committed
    }
    this.sent.length = this.#committedSent
  }

  /** Processes until nothing is left: of all tasks the one with the earliest record, the first of several. */
  #drain(): void {
    for (;;) {
      let task: Task | undefined
      for (const candidate of this.#tasks) {
        const time = candidate.next?.head?.time
        if (time !== undefined && time < (task?.next?.head?.time ?? Number.POSITIVE_INFINITY)) task = candidate
      }
      const source = task?.next
      const record = source?.head
      if (task === undefined || source === undefined || record === undefined) return
      source.taken += 1
      this.streamTime = task.streamTime
      this.#attempt(() => {
        source.process(record)
      })
      this.#punctuate(task, 'streamTime', task.streamTime)
    }
  }

  #punctuate(task: Task, clock: PunctuationClock, now: number): void {
    this.streamTime = task.streamTime
    for (let due = task.dueBy(clock, now); due !== undefined; due = task.dueBy(clock, now)) {
      const punctual = due
      // It does not come again at once if it fails.
      punctual.advance(now)
      this.#attempt(() => {
        punctual.punctuate(now)
      })
    }
  }

  /** Hands on a result that was held back, unless it has failed before. */
  release(handOn: () => void): void {
    const number = this.#releases++
    if (this.#failed.has(number)) return
    const outer = this.#releasing
    this.#releasing = number
    handOn()
    this.#releasing = outer
  }

  /** What fails has left nothing behind; where that is a result let go of, the rest is done without it. */
  #attempt(work: () => void): void {
    this.#failed = new Set()
    while (!this.#isDone(work)) this.drop('skipped')
  }

  #takeReleasing(): number | undefined {
    const releasing = this.#releasing
    this.#releasing = undefined
    return releasing
  }

  #isDone(work: () => void): boolean {
    const memories = this.skipsFailures || this.mayStop ? this.nodes.map(node => structuredClone(node.memory)) : []
    const lengths = this.sources.map(({ log }) => log.length)
    const sent = this.sent.length
    this.#releases = 0
    try {
      work()
      return true
    } catch (thrown) {
      if (!this.skipsFailures && !(thrown instanceof Stop)) throw thrown
      for (const [at, node] of this.nodes.entries()) node.memory = memories[at] ?? {}
      for (const [at, source] of this.sources.entries()) source.log.length = lengths[at] ?? 0
      this.sent.length = sent
      if (thrown instanceof Stop) throw thrown
      const failed = this.#takeReleasing()
      if (failed !== undefined) {
        this.#failed.add(failed)
        return false
      }
      this.drop('skipped')
      return true
    }
  }
}

/** Nodes that belong together because records or memories connect them, in the order of their first sources. */
function tasksOf(sources: readonly Source[], nodes: readonly ModelNode[]): readonly ReadonlySet<ModelNode>[] {
  const neighbours = new Map<ModelNode, ModelNode[]>(nodes.map(node => [node, []]))
  for (const node of nodes) {
    for (const other of [...node.children.map(child => child.node), ...node.reads]) {
      neighbours.get(node)?.push(other)
      neighbours.get(other)?.push(node)
    }
  }
  const tasks: Set<ModelNode>[] = []
  for (const source of sources) {
    if (tasks.some(task => task.has(source))) continue
    const found = new Set<ModelNode>([source])
    for (const node of found) for (const other of neighbours.get(node) ?? []) found.add(other)
    // In the order in which they were made, whichever way they were found.
    tasks.push(new Set(nodes.filter(node => found.has(node))))
  }
  return tasks
}

function isPunctual(node: ModelNode): node is ModelNode & Punctual {
  return 'punctuate' in node
}

/** What tells keys apart. */
export function idOf(key: Key): string {
  return typeof key === 'object' && key !== null ? `${key.key}@${String(key.start)}-${String(key.end)}` : String(key)
}

/** The order of keys by their bytes: a window's are `key | start`, a session's `key | end | start`, each number in eight bytes. */
export function compareKeys(left: Key, right: Key): number {
  return Buffer.compare(bytesOf(left), bytesOf(right))
}

/** The bytes of a key. */
export function bytesOf(key: Key): Buffer {
  if (typeof key !== 'object' || key === null) return Buffer.from(key ?? '')
  const numbers = key.isSession ? [key.end, key.start] : [key.start]
  const bytes = numbers.map(number => {
    const eight = Buffer.alloc(8)
    eight.writeBigInt64BE(BigInt(number))
    return eight
  })
  return Buffer.concat([Buffer.from(key.key), ...bytes])
}
