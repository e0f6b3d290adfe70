import { nullable } from '../../../src/serdes/nullable.ts'
import { string } from '../../../src/serdes/text.ts'
import type { BuilderHandle } from '../../../src/topology/builder-handle.ts'
import {
  type GlobalTableHandle,
  type GroupedStreamHandle,
  StreamHandle,
  TableHandle,
} from '../../../src/topology/handles.ts'
import { declareReads } from '../../../src/topology/reads.ts'
import { buildTopology } from '../../../src/topology/streams.ts'
import type { Topology } from '../../../src/topology/topology.ts'
import type { FoldKind, Operation, StreamJoinOperation, TableOperation, Windows } from './operations.ts'
import {
  boundsOf,
  graceOf,
  HISTORY_MS,
  SEVERAL_TOPICS,
  takesTexts,
  waitOf,
  type Input,
  type Shape,
  type SourceName,
  type Step,
} from './plan.ts'
import * as user from './user-functions.ts'
import { serdesOf } from './value-serdes.ts'
import { numbering } from './user-processor.ts'

const nulls = { key: nullable(string), value: nullable(string) }
const texts = { key: string, value: string }

type Result = StreamHandle | TableHandle

/** Builds the topology that the steps describe with the DSL. */
export function topologyOf(steps: readonly Step[]): Topology {
  return buildTopology(builder => {
    new Building(builder).all(steps)
  })
}

/** Name of the store of a step. */
export function storeOf(step: number): string {
  return `store-${String(step)}`
}

class Building {
  readonly #builder: BuilderHandle
  readonly #results = new Map<string, Result>()
  #globalTable: GlobalTableHandle | undefined

  constructor(builder: BuilderHandle) {
    this.#builder = builder
  }

  all(steps: readonly Step[]): void {
    for (const step of steps) {
      const result = this.#add(step)
      this.#results.set(String(step.id), result)
      if (step.isWritten) asStream(result, step.shape).to(`out-${String(step.id)}`)
    }
  }

  #add(step: Step): Result {
    const { operation, inputs, id } = step
    const [first, second] = inputs
    if (first === undefined) throw new RangeError('an operator has an input')
    const store = storeOf(id)
    switch (operation.kind) {
      case 'filter':
        return this.#stream(first).filter(predicateOf(operation.fn))
      case 'filterNot':
        return this.#stream(first).filterNot(predicateOf(operation.fn))
      case 'mapValues':
        return this.#stream(first).mapValues(mapperOf(operation.fn)).withSerdes(nulls)
      case 'flatMapValues':
        return this.#stream(first)
          .flatMapValues(telling(operation.fn, user.flatMapper(operation.fn), false))
          .withSerdes(nulls)
      case 'map':
        return this.#stream(first).map(user.pairMapper(operation.fn)).withSerdes(nulls)
      case 'flatMap':
        return this.#stream(first).flatMap(user.flatPairMapper(operation.fn)).withSerdes(nulls)
      case 'selectKey':
        return this.#stream(first).selectKey(selectorOf(operation.fn)).withSerdes({ key: nulls.key })
      case 'split': {
        const { some, rest } = this.#stream(first).split({ some: predicateOf(operation.fn), rest: 'default' })
        const [taken, other] = operation.taken === 'first' ? [some, rest] : [rest, some]
        if (taken === undefined || other === undefined) throw new RangeError('a split has two branches')
        other.to(`out-${String(id)}-other`)
        return taken
      }
      case 'convert':
        return this.#stream(first).mapValues(user.converter(operation.type)).withSerdes(serdesOf(operation.type))
      case 'merge': {
        const [one, other] = [first, second ?? first].map(input => this.#stream(input, takesTexts(operation, inputs)))
        if (one === undefined || other === undefined) throw new RangeError('a merge has two inputs')
        return one.merge(other)
      }
      case 'repartition':
        return this.#stream(first).repartition()
      case 'toTable':
        return this.#stream(first).toTable(versioned(operation.history))
      case 'dedupe':
        return this.#stream(first).dedupe(user.idOf(operation.fn), { within: operation.within, store })
      case 'process': {
        const stream = this.#stream(first)
        const supplier = numbering(store, operation)
        return operation.keepsKey ? stream.processValues(supplier) : stream.process(supplier)
      }
      case 'streamJoin':
      case 'streamTableJoin':
      case 'globalTableJoin':
        return this.#joinStream(operation, first, second ?? first).withSerdes(nulls)
      case 'aggregate': {
        const options = { ...versioned(operation.history), store }
        return aggregate(this.#grouped(step, operation), operation.fold, options)
      }
      case 'windowed':
        return windowed(this.#grouped(step, operation), operation, store)
      case 'cogroup': {
        const [one, two] = [this.#stream(first), this.#stream(second ?? first)].map(stream => stream.groupByKey())
        if (one === undefined || two === undefined) throw new RangeError('a cogroup has two inputs')
        const cogrouped = one.cogroup(user.adderOf(0)).cogroup(two, user.adderOf(1))
        const options = { store, value: string }
        if (operation.windows === null) return cogrouped.aggregate(user.initializer, options)
        const inWindows = cogrouped.windowedBy(windowsOf(operation.windows))
        return operation.windows.type === 'session'
          ? inWindows.aggregate(user.initializer, user.merger, options)
          : inWindows.aggregate(user.initializer, options)
      }
      case 'tableFilter':
      case 'tableFilterNot':
      case 'tableMapValues':
      case 'tableTransformValues':
      case 'tableGroup':
      case 'suppress':
      case 'tableJoin':
      case 'foreignKeyJoin':
        return this.#addToTable(operation, step, first, second ?? first)
    }
  }

  #addToTable(operation: TableOperation, step: Step, first: Input, second: Input): TableHandle {
    const store = storeOf(step.id)
    const table = this.#table(first)
    switch (operation.kind) {
      case 'tableFilter':
        return table.filter(predicateOf(operation.fn), operation.isStored ? { store } : {})
      case 'tableFilterNot':
        return table.filterNot(predicateOf(operation.fn), operation.isStored ? { store } : {})
      case 'tableMapValues':
        return table
          .mapValues(mapperOf(operation.fn), operation.isStored ? { store, value: string } : {})
          .withSerdes({ value: string })
      case 'tableTransformValues': {
        const map = user.mapper(operation.fn)
        const options = operation.isStored ? { store, value: string } : {}
        return table
          .transformValues(() => value => (value === null ? null : map(value)), options)
          .withSerdes({ value: string })
      }
      case 'tableGroup': {
        const grouped = table.groupBy(user.grouper(operation.fn), texts)
        const options = { store, value: string }
        if (operation.fold === 'count') return grouped.count({ store })
        return operation.fold === 'reduce'
          ? grouped.reduce(user.adder, user.subtractor, { store })
          : grouped.aggregate(user.initializer, user.adder, user.subtractor, options)
      }
      case 'suppress': {
        return table.suppress({ until: waitOf(operation.until, first.shape), ...boundsOf(operation, step) })
      }
      case 'tableJoin': {
        const joiner = joinerOf(operation)
        const other = this.#table(second)
        const options = operation.isStored ? { store, value: string } : {}
        const joined = {
          inner: () => table.join(other, joiner, options),
          left: () => table.leftJoin(other, joiner, options),
          outer: () => table.outerJoin(other, joiner, options),
        }[operation.join]()
        return joined.withSerdes({ value: string })
      }
      case 'foreignKeyJoin': {
        const other = this.#table(second)
        const foreignKey = user.foreignKey(operation.fn)
        return operation.isLeft
          ? table.foreignKeyLeftJoin(other, foreignKey, user.joiner, { store, value: string })
          : table.foreignKeyJoin(other, foreignKey, user.joiner, { store, value: string })
      }
    }
  }

  #joinStream(operation: StreamJoinOperation, first: Input, second: Input): StreamHandle {
    const stream = this.#stream(first)
    const joiner = joinerOf(operation)
    switch (operation.kind) {
      case 'streamJoin': {
        const { before, after, grace, join } = operation
        return stream.joinStream(this.#stream(second), joiner, { within: { before, after }, grace }, join)
      }
      case 'streamTableJoin': {
        const table = this.#table(second)
        const grace = graceOf(operation.grace, second.shape)
        if (grace === null) return stream.joinTable(table, joiner, {}, operation.isLeft)
        // A record without a key cannot wait for a table.
        return stream.filter((_, key) => key !== null).joinTable(table, joiner, { grace }, operation.isLeft)
      }
      case 'globalTableJoin':
        this.#globalTable ??= this.#builder.globalTable('g', texts)
        return stream.joinGlobalTable(this.#globalTable, selectorOf(operation.fn), joiner, {}, operation.isLeft)
    }
  }

  #grouped({ inputs }: Step, operation: Extract<Operation, { kind: 'aggregate' | 'windowed' }>): GroupedStreamHandle {
    const [first] = inputs
    if (first === undefined) throw new RangeError('an aggregation has an input')
    const stream = this.#stream(first, takesTexts(operation, inputs))
    return operation.by === null ? stream.groupByKey() : stream.groupBy(selectorOf(operation.by), { key: nulls.key })
  }

  #stream({ from, shape }: Input, isText = false): StreamHandle {
    const stream = asStream('step' in from ? this.#resultOf(from.step) : this.#source(from.source), shape)
    return isText ? textsOf(stream) : stream
  }

  #table({ from }: Input): TableHandle {
    const result = 'step' in from ? this.#resultOf(from.step) : this.#source(from.source)
    return result instanceof TableHandle ? result : result.toTable()
  }

  #resultOf(step: number): Result {
    const result = this.#results.get(String(step))
    if (result === undefined) throw new RangeError(`step ${String(step)} comes later`)
    return result
  }

  #source(name: SourceName): Result {
    const known = this.#results.get(name)
    if (known !== undefined) return known
    const source = this.#newSource(name)
    this.#results.set(name, source)
    return source
  }

  #newSource(name: SourceName): Result {
    switch (name) {
      case 's1':
      case 's2':
        return this.#builder.stream(name, nulls)
      case 'm':
        return this.#builder.stream(SEVERAL_TOPICS, nulls)
      case 't1':
        return this.#builder.table(name, { ...texts, store: 'store-t1' })
      case 'v1':
        return this.#builder.table(name, { ...texts, store: 'store-v', ...versioned(HISTORY_MS) })
      case 't2':
      case 'g':
        return this.#builder.table(name, texts)
    }
  }
}

function asStream(result: Result, shape: Shape): StreamHandle {
  if (result instanceof StreamHandle) return result
  const isWindowed = shape.type === 'table' && shape.windows !== null
  const stream = isWindowed ? result.toStream((_, key) => user.keyText(key)) : result.toStream()
  return textsOf(stream)
}

function textsOf(stream: StreamHandle): StreamHandle {
  return stream.mapValues(value => (value === null ? null : user.textOf(value))).withSerdes(nulls)
}

function versioned(history: number | null): { versioned?: { historyRetention: number } } {
  return history === null ? {} : { versioned: { historyRetention: history } }
}

function aggregate(
  grouped: GroupedStreamHandle,
  fold: FoldKind,
  options: { store: string; versioned?: { historyRetention: number } },
): TableHandle {
  switch (fold) {
    case 'count':
      return grouped.count(options)
    case 'reduce':
      return grouped.reduce(user.adder, { ...options, value: string })
    case 'aggregate':
      return grouped.aggregate(user.initializer, user.adder, { ...options, value: string })
  }
}

function windowed(
  grouped: GroupedStreamHandle,
  { fold, windows, emit, keepsLate }: Extract<Step['operation'], { kind: 'windowed' }>,
  store: string,
): TableHandle {
  const inWindows = grouped.windowedBy(windowsOf(windows), {
    emit,
    ...(keepsLate ? { late: { topic: `out-${store}-late` } } : {}),
  })
  const options = { store, value: string }
  switch (fold) {
    case 'count':
      return inWindows.count({ store })
    case 'reduce':
      return inWindows.reduce(user.adder, options)
    case 'aggregate':
      return windows.type === 'session'
        ? inWindows.aggregate(user.initializer, user.adder, user.merger, options)
        : inWindows.aggregate(
            user.initializer,
            declareReads((total: unknown, value: unknown) => user.adder(total, value), 'value'),
            options,
          )
  }
}

function windowsOf(windows: Windows): Readonly<Record<string, number>> {
  const { grace } = windows
  switch (windows.type) {
    case 'tumbling':
      return { tumbling: windows.size, grace }
    case 'hopping':
      return { hopping: windows.size, every: windows.every, grace }
    case 'sliding':
      return { sliding: windows.difference, grace }
    case 'session':
      return { session: windows.gap, grace }
  }
}

/** Some functions say what they read, as expressions do: the other side may go on as bytes then. */
function telling<F extends object>(fn: number, step: F, readsKey: boolean): F {
  return fn < 3 ? step : declareReads(step, 'value', ...(readsKey ? (['key'] as const) : []))
}

function predicateOf(fn: number): ReturnType<typeof user.predicate> {
  return telling(fn, user.predicate(fn), user.predicateReadsKey(fn))
}

function selectorOf(fn: number): ReturnType<typeof user.selector> {
  return telling(fn, user.selector(fn), user.selectorReadsKey(fn))
}

function mapperOf(fn: number): ReturnType<typeof user.mapper> {
  return telling(fn, user.mapper(fn), false)
}

function joinerOf(operation: object): typeof user.joiner {
  const joiner = user.joinerOf(operation)
  return user.joinerReadsKey(operation) ? joiner : declareReads(joiner, 'value')
}
