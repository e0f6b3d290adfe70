import type { FoldKind, Windows } from '../operations.ts'
import { graceOf, HISTORY_MS, waitOf, type Input, type Shape, type SourceName, type Step } from '../plan.ts'
import * as user from '../user-functions.ts'
import { Aggregate, GroupAggregate, GroupSelect, type Fold } from './aggregates.ts'
import { Model, recordOf, Sink, Source, type ModelNode } from './flow.ts'
import { SessionTable } from './sessions.ts'
import { SlidingWindowTable } from './sliding-windows.ts'
import { GlobalTableJoin, StreamJoin, StreamTableJoin } from './stream-joins.ts'
import { Dedupe, Keyed, Numbering, Split, Stateless } from './streams.ts'
import { Suppress } from './suppress.ts'
import { Answering, Resolve, Subscribe, TableJoin } from './table-joins.ts'
import { DerivedTable, newsOf, SourceTable, TableNode } from './tables.ts'
import { VersionedTable } from './versions.ts'
import { TimeWindowTable } from './windows.ts'

/** A stream: where it comes out, and whether its keys have changed since records were last distributed by them. */
interface Stream {
  readonly node: ModelNode
  readonly isRekeyed: boolean
}

type Result = Stream | TableNode

/** The model of a topology. */
export class AssembledModel {
  readonly model = new Model()
  /** Tables by the step they come from, for a look at what they hold in the end. */
  readonly tables = new Map<number, TableNode>()
  readonly #globalRows = new Map<string, unknown>()
  readonly #results = new Map<string, Result>()
  /** Repartition topics of joins, which those of one stream share. */
  readonly #joinTopics = new Map<ModelNode, Source>()
  #topics = 0

  constructor(steps: readonly Step[]) {
    for (const step of steps) {
      const result = this.#add(step)
      this.#results.set(String(step.id), result)
      if (result instanceof TableNode) this.tables.set(step.id, result)
      if (step.isWritten) this.#write(this.#asStream(result, step.shape), `out-${String(step.id)}`)
    }
    this.model.begin()
  }

  /** A record of a topic; global tables take theirs at once. */
  pipe(topic: SourceName, key: string | null, value: string | null, time: number): void {
    if (topic !== 'g') {
      this.model.pipe(topic, recordOf(key, value, time))
    } else if (key === null) {
      this.model.drop('nullKey')
    } else if (value === null) {
      this.#globalRows.delete(key)
    } else {
      this.#globalRows.set(key, value)
    }
  }

  #write({ node }: Stream, topic: string): void {
    node.feeds(new Sink(this.model, topic))
  }

  #add({ operation, inputs, id }: Step): Result {
    const { model } = this
    const [first, second] = inputs
    if (first === undefined) throw new RangeError('an operator has an input')
    switch (operation.kind) {
      case 'filter':
      case 'filterNot':
      case 'mapValues':
      case 'flatMapValues':
      case 'map':
      case 'flatMap':
      case 'selectKey':
        return this.#stateless(this.#stream(first), operation.kind, operation.fn)
      case 'split': {
        const { node, isRekeyed } = this.#stream(first)
        const split = node.feeds(new Split(model, user.predicate(operation.fn)))
        const branches = [0, 1].map(() => split.feeds(new Stateless(model, record => [record])))
        const [taken, other] = operation.taken === 'first' ? branches : branches.toReversed()
        if (taken === undefined || other === undefined) throw new RangeError('a split has two branches')
        this.#write({ node: other, isRekeyed }, `out-${String(id)}-other`)
        return { node: taken, isRekeyed }
      }
      case 'merge': {
        const [left, right] = [this.#stream(first), this.#stream(second ?? first)]
        const merged = left.node.feeds(new Stateless(model, record => [record]))
        if (right.node !== left.node) right.node.feeds(merged)
        return { node: merged, isRekeyed: left.isRekeyed || right.isRekeyed }
      }
      case 'repartition':
        return { node: this.#repartition(this.#stream(first).node), isRekeyed: false }
      case 'toTable':
        return this.#toTable(this.#stream(first), operation.history)
      case 'dedupe': {
        const { node } = this.#distributed(this.#stream(first))
        return { node: node.feeds(new Dedupe(model, user.idOf(operation.fn), operation.within)), isRekeyed: false }
      }
      case 'process': {
        const { node, isRekeyed } = this.#stream(first)
        const numbering = node.feeds(new Numbering(model, operation.keepsKey, operation.every))
        return { node: numbering, isRekeyed: isRekeyed || !operation.keepsKey }
      }
      case 'streamJoin':
      case 'streamTableJoin':
      case 'globalTableJoin':
        return this.#joinStream(operation, first, second ?? first)
      case 'aggregate': {
        const { node } = this.#grouped(first, operation.by)
        return node.feeds(new Aggregate(model, foldOf(operation.fold), operation.history))
      }
      case 'windowed': {
        const { node } = this.#grouped(first, operation.by)
        return node.feeds(windowTable(model, foldOf(operation.fold), operation.windows, operation.emit === 'final'))
      }
      case 'cogroup': {
        const groups = [this.#stream(first), this.#stream(second ?? first)].map(stream => this.#distributed(stream))
        const fold: Fold = { ...foldOf('aggregate'), add: (total, value, side) => user.adderOf(side)(total, value) }
        const table =
          operation.windows === null
            ? new Aggregate(model, fold, null)
            : windowTable(model, fold, operation.windows, false)
        for (const [side, { node }] of groups.entries()) node.feeds(table, side)
        return table
      }
      case 'tableFilter':
      case 'tableFilterNot':
      case 'tableMapValues':
      case 'tableGroup':
      case 'suppress':
      case 'tableJoin':
      case 'foreignKeyJoin':
        return this.#addToTable(operation, first, second ?? first)
    }
  }

  #addToTable(
    operation: Extract<
      Step['operation'],
      {
        kind:
          | 'tableFilter'
          | 'tableFilterNot'
          | 'tableMapValues'
          | 'tableGroup'
          | 'suppress'
          | 'tableJoin'
          | 'foreignKeyJoin'
      }
    >,
    first: Input,
    second: Input,
  ): TableNode {
    const { model } = this
    const table = this.#table(first)
    switch (operation.kind) {
      case 'tableFilter':
      case 'tableFilterNot': {
        const holds = user.predicate(operation.fn)
        const keep = operation.kind === 'tableFilter'
        const { isStored } = operation
        return new DerivedTable(table, { isFilter: true, isStored }, (value, key) =>
          holds(value, key) === keep ? value : null,
        )
      }
      case 'tableMapValues':
        return new DerivedTable(table, { isFilter: false, isStored: operation.isStored }, user.mapper(operation.fn))
      case 'tableGroup': {
        const select = newsOf(table).feeds(new GroupSelect(model, user.grouper(operation.fn)))
        table.sendOld(true)
        return this.#topic(select).feeds(new GroupAggregate(model, foldOf(operation.fold)))
      }
      case 'suppress': {
        const until = waitOf(operation.until, first.shape)
        const windows = first.shape.type === 'table' ? first.shape.windows : null
        const closes = (windows?.grace ?? 0) + (windows?.type === 'session' ? windows.gap : 0)
        return new Suppress(table, {
          wait: until === 'windowCloses' ? closes : until,
          isFinal: until === 'windowCloses',
          maxRecords:
            until === 'windowCloses' ? Number.POSITIVE_INFINITY : (operation.maxRecords ?? Number.POSITIVE_INFINITY),
        })
      }
      case 'tableJoin':
        return new TableJoin(table, this.#table(second), {
          kind: operation.join,
          joiner: user.joiner,
          isStored: operation.isStored,
        })
      case 'foreignKeyJoin':
        return this.#joinForeignKey(table, this.#table(second), operation)
    }
  }

  #joinForeignKey(left: TableNode, right: TableNode, { fn, isLeft }: { fn: number; isLeft: boolean }): TableNode {
    right.sendOld(true)
    left.sendOld(true)
    left.keep()
    right.keep()
    const answering = new Answering(right)
    this.#topic(new Subscribe(left, user.foreignKey(fn), isLeft)).feeds(answering, 0)
    newsOf(right).feeds(answering, 1)
    const resolve = this.#topic(answering).feeds(new Resolve(left, user.joiner, isLeft))
    return resolve.feeds(new SourceTable(this.model, true))
  }

  #joinStream(
    operation: Extract<Step['operation'], { kind: 'streamJoin' | 'streamTableJoin' | 'globalTableJoin' }>,
    first: Input,
    second: Input,
  ): Stream {
    const { model } = this
    const stream = this.#stream(first)
    switch (operation.kind) {
      case 'streamJoin': {
        const other = this.#stream(second)
        const join = new StreamJoin(model, user.joiner, { ...operation, kind: operation.join })
        for (const [side, one] of [stream, other].entries()) this.#distributedForJoin(one).node.feeds(join, side)
        return { node: join, isRekeyed: false }
      }
      case 'streamTableJoin': {
        const table = this.#table(second)
        const grace = graceOf(operation.grace, second.shape)
        const node = grace === null ? stream.node : stream.node.feeds(withKeys(model))
        const { node: distributed } = this.#distributedForJoin({ ...stream, node })
        const join = new StreamTableJoin(table, user.joiner, { isLeft: operation.isLeft, grace })
        return { node: distributed.feeds(join), isRekeyed: false }
      }
      case 'globalTableJoin': {
        const join = new GlobalTableJoin(model, this.#globalRows, user.selector(operation.fn), {
          joiner: user.joiner,
          isLeft: operation.isLeft,
        })
        return { ...stream, node: stream.node.feeds(join) }
      }
    }
  }

  #stateless({ node, isRekeyed }: Stream, kind: string, fn: number): Stream {
    const { model } = this
    const holds = user.predicate(fn)
    switch (kind) {
      case 'filter':
        return { node: node.feeds(new Stateless(model, r => (holds(r.value, r.key) ? [r] : []))), isRekeyed }
      case 'filterNot':
        return { node: node.feeds(new Stateless(model, r => (holds(r.value, r.key) ? [] : [r]))), isRekeyed }
      case 'mapValues':
        return {
          node: node.feeds(new Stateless(model, r => [recordOf(r.key, user.mapper(fn)(r.value), r.time)])),
          isRekeyed,
        }
      case 'flatMapValues':
        return {
          node: node.feeds(
            new Stateless(model, r =>
              user
                .flatMapper(fn)(r.value)
                .map(value => recordOf(r.key, value, r.time)),
            ),
          ),
          isRekeyed,
        }
      case 'selectKey':
        return {
          node: node.feeds(new Stateless(model, r => [recordOf(user.selector(fn)(r.value, r.key), r.value, r.time)])),
          isRekeyed: true,
        }
      default: {
        const pairs = kind === 'map' ? listed(user.pairMapper(fn)) : user.flatPairMapper(fn)
        return {
          node: node.feeds(
            new Stateless(model, r => pairs(r.value, r.key).map(([key, value]) => recordOf(key, value, r.time))),
          ),
          isRekeyed: true,
        }
      }
    }
  }

  #grouped(input: Input, by: number | null): Stream {
    const stream = this.#stream(input)
    return this.#distributed(by === null ? stream : this.#stateless(stream, 'selectKey', by))
  }

  #distributed({ node, isRekeyed }: Stream): Stream {
    return { node: isRekeyed ? this.#repartition(node) : node, isRekeyed: false }
  }

  #distributedForJoin({ node, isRekeyed }: Stream): Stream {
    if (!isRekeyed) return { node, isRekeyed }
    const source = this.#joinTopics.get(node) ?? this.#repartition(node)
    this.#joinTopics.set(node, source)
    return { node: source, isRekeyed: false }
  }

  #repartition(node: ModelNode): Source {
    return this.#topic(node.feeds(new Keyed(this.model)))
  }

  /** Sends what comes out of a node through a topic of the application's own. */
  #topic(node: ModelNode): Source {
    this.#topics += 1
    const name = `internal-${String(this.#topics)}`
    node.feeds(new Sink(this.model, name))
    return new Source(this.model, name, true)
  }

  #toTable(stream: Stream, history: number | null): TableNode {
    const { node } = this.#distributed(stream)
    return node.feeds(history === null ? new SourceTable(this.model, false) : new VersionedTable(this.model, history))
  }

  #stream({ from, shape }: Input): Stream {
    return this.#asStream('step' in from ? this.#resultOf(from.step) : this.#source(from.source), shape)
  }

  #table({ from }: Input): TableNode {
    const result = 'step' in from ? this.#resultOf(from.step) : this.#source(from.source)
    return result instanceof TableNode ? result : this.#toTable(result, null)
  }

  #resultOf(step: number): Result {
    const result = this.#results.get(String(step))
    if (result === undefined) throw new RangeError(`step ${String(step)} comes later`)
    return result
  }

  #source(name: SourceName): Result {
    const known = this.#results.get(name)
    if (known !== undefined) return known
    const source = new Source(this.model, name, false)
    const result = tableOf(this.model, source, name) ?? { node: source, isRekeyed: false }
    this.#results.set(name, result)
    return result
  }

  /** A table's updates; keys of windows become texts, and so do numbers. */
  #asStream(result: Result, shape: Shape): Stream {
    if (!(result instanceof TableNode)) return result
    const texts = new Stateless(this.model, ({ key, value, time }) => [
      recordOf(typeof key === 'string' ? key : user.keyText(key), value === null ? null : user.textOf(value), time),
    ])
    return { node: result.feeds(texts), isRekeyed: shape.type === 'table' && shape.windows !== null }
  }
}

function listed<T>(make: (value: unknown, key: unknown) => T): (value: unknown, key: unknown) => T[] {
  return (value, key) => [make(value, key)]
}

function withKeys(model: Model): Stateless {
  return new Stateless(model, record => (record.key === null ? [] : [record]))
}

function tableOf(model: Model, source: Source, name: SourceName): TableNode | undefined {
  switch (name) {
    case 't1':
      return source.feeds(new SourceTable(model, true))
    case 't2':
      return source.feeds(new SourceTable(model, false))
    case 'v':
      return source.feeds(new VersionedTable(model, HISTORY_MS))
    case 's1':
    case 's2':
    case 'g':
      return undefined
  }
}

function foldOf(kind: FoldKind): Fold {
  switch (kind) {
    case 'count':
      return {
        initial: 0,
        add: total => Number(total) + 1,
        subtract: total => Number(total) - 1,
        merge: (left, right) => Number(left) + Number(right),
      }
    case 'reduce':
      return { initial: null, add: user.adder, subtract: user.subtractor, merge: user.adder }
    case 'aggregate':
      return { initial: user.initializer(), add: user.adder, subtract: user.subtractor, merge: user.merger }
  }
}

function windowTable(model: Model, fold: Fold, windows: Windows, emitsFinal: boolean): TableNode {
  const { grace } = windows
  switch (windows.type) {
    case 'tumbling':
      return new TimeWindowTable(model, fold, { size: windows.size, every: windows.size, grace, emitsFinal })
    case 'hopping':
      return new TimeWindowTable(model, fold, { size: windows.size, every: windows.every, grace, emitsFinal })
    case 'sliding':
      return new SlidingWindowTable(model, fold, { difference: windows.difference, grace, emitsFinal })
    case 'session':
      return new SessionTable(model, fold, { gap: windows.gap, grace, emitsFinal })
  }
}
