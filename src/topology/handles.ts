import type { JoinStep } from '../operators/stream-table-join.ts'
import type { CombineStep, Step } from '../operators/step.ts'
import type { EntrySelector } from '../operators/table-group.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { DefinedStore, type StoreDefinition, type StoreSpec } from '../stores/store-spec.ts'
import type { JoinKind } from '../operators/table-table-join.ts'
import type { ErasedStreamJoinOptions } from './join-options.ts'
import { historyOf } from './materialized.ts'
import type { StoreOptions, VersionedOption } from './options.ts'
import type {
  ErasedRepartitionOptions,
  ErasedSinkOptions,
  ErasedTableOptions,
  GroupedStreamParts,
  GroupedTableParts,
  Named,
  SerdePair,
  StreamParts,
  TableParts,
} from './parts.ts'
import type { ErasedSupplier } from './processor-node.ts'
import * as grouping from './stream-grouping.ts'
import { addDedupe, type ErasedDedupeOptions } from './dedupe-step.ts'
import { CogroupedHandle, WindowedStreamHandle } from './grouped-handles.ts'
import * as joins from './stream-joins.ts'
import { serdeOf } from './stream-serdes.ts'
import * as steps from './stream-steps.ts'
import * as tableGrouping from './table-grouping.ts'
import type { ForeignKeyStep } from '../operators/foreign-key-join.ts'
import { addForeignKeyJoin } from './foreign-key-joins.ts'
import { addStreamStreamJoin } from './stream-stream-joins.ts'
import { addTableTableJoin } from './table-joins.ts'
import { addTableSource } from './table-source.ts'
import { addSuppress, type ErasedSuppressOptions } from './suppress-steps.ts'
import * as tableSteps from './table-steps.ts'
import { windowedBy, type ErasedWindowedBy } from './windowed-grouping.ts'
import type { WindowsOptions } from './windows.ts'

/** A `KStream` with its types forgotten: what the typed DSL and the YAML builder both build on. */
export class StreamHandle {
  readonly parts: StreamParts

  constructor(parts: StreamParts) {
    this.parts = parts
  }

  filter(predicate: Step, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addFilter(this.parts, predicate, true, options))
  }

  filterNot(predicate: Step, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addFilter(this.parts, predicate, false, options))
  }

  map(mapper: Step, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addMap(this.parts, mapper, options))
  }

  mapValues(mapper: Step, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addMapValues(this.parts, mapper, options))
  }

  flatMap(mapper: Step, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addFlatMap(this.parts, mapper, options))
  }

  flatMapValues(mapper: Step, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addFlatMapValues(this.parts, mapper, options))
  }

  selectKey(selector: Step, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addSelectKey(this.parts, selector, options))
  }

  peek(action: Step, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addPeek(this.parts, action, options))
  }

  foreach(action: Step, options: Named = {}): void {
    steps.addForeach(this.parts, action, options)
  }

  merge(other: StreamHandle, options: Named = {}): StreamHandle {
    return new StreamHandle(steps.addMerge(this.parts, other.parts, options))
  }

  split(
    branches: Readonly<Record<string, Step | 'default'>>,
    options: Named = {},
  ): Readonly<Record<string, StreamHandle>> {
    const parts = steps.addSplit(this.parts, branches, options)
    return Object.fromEntries(Object.entries(parts).map(([name, branch]) => [name, new StreamHandle(branch)]))
  }

  dedupe(idOf: Step, options: ErasedDedupeOptions): StreamHandle {
    return new StreamHandle(addDedupe(this.parts, idOf, options))
  }

  withSerdes({ key, value }: SerdePair): StreamHandle {
    return new StreamHandle({ ...this.parts, key: key ?? this.parts.key, value: value ?? this.parts.value })
  }

  repartition(options: ErasedRepartitionOptions = {}): StreamHandle {
    return new StreamHandle(steps.addRepartitionStep(this.parts, options))
  }

  to(topic: string | Step, options: ErasedSinkOptions = {}): void {
    steps.addSink(this.parts, topic, options)
  }

  toTable(options: StoreOptions & VersionedOption & SerdePair = {}): TableHandle {
    const { graph, rekeyed } = this.parts
    const name = graph.nameOr(options.name, 'KSTREAM-TOTABLE-')
    const storeName = options.store ?? graph.numberedStoreName('KSTREAM-TOTABLE-')
    const key = serdeOf(this.parts, 'key', options.key, name)
    const value = serdeOf(this.parts, 'value', options.value, name)
    const { node, sources } = rekeyed ? steps.repartitioned(this.parts, name, { key, value }, name) : this.parts
    const isNamed = options.store !== undefined
    const historyMs = historyOf(graph, options, name)
    return new TableHandle(
      addTableSource(graph, { parent: node, name, storeName, isNamed, key, value, options, sources, historyMs }),
    )
  }

  groupByKey(options: Named & SerdePair = {}): GroupedStreamHandle {
    return this.#grouped(options, 'groupByKey')
  }

  groupBy(selector: Step, options: Named & SerdePair): GroupedStreamHandle {
    return this.selectKey(selector, { name: options.name }).#grouped(options, 'groupBy')
  }

  /** With a table; a left join passes on what has no partner. */
  joinTable(
    table: TableHandle,
    joiner: JoinStep,
    options: joins.ErasedTableJoinOptions,
    isLeft: boolean,
  ): StreamHandle {
    return new StreamHandle(joins.addTableJoin(this.parts, table.parts, joiner, options, isLeft))
  }

  /** With a global table under a key of its choice. */
  joinGlobalTable(
    table: GlobalTableHandle,
    selector: Step,
    joiner: JoinStep,
    options: Named,
    isLeft: boolean,
  ): StreamHandle {
    return new StreamHandle(joins.addGlobalTableJoin(this.parts, table.definition, selector, joiner, options, isLeft))
  }

  /** With another stream, within a time. */
  joinStream(other: StreamHandle, joiner: JoinStep, options: ErasedStreamJoinOptions, kind: JoinKind): StreamHandle {
    return new StreamHandle(addStreamStreamJoin(this.parts, other.parts, joiner, options, kind))
  }

  join(other: StreamHandle | TableHandle | GlobalTableHandle, ...rest: readonly unknown[]): StreamHandle {
    return this.#joined(other, rest, 'inner')
  }

  leftJoin(other: StreamHandle | TableHandle | GlobalTableHandle, ...rest: readonly unknown[]): StreamHandle {
    return this.#joined(other, rest, 'left')
  }

  outerJoin(other: StreamHandle, joiner: JoinStep, options: ErasedStreamJoinOptions): StreamHandle {
    return this.joinStream(other, joiner, options, 'outer')
  }

  process(supplier: ErasedSupplier): StreamHandle {
    return new StreamHandle(steps.addProcess(this.parts, supplier, false))
  }

  processValues(supplier: ErasedSupplier): StreamHandle {
    return new StreamHandle(steps.addProcess(this.parts, supplier, true))
  }

  #grouped(options: Named & SerdePair, step: string): GroupedStreamHandle {
    return new GroupedStreamHandle({
      stream: this.parts,
      name: options.name,
      key: serdeOf(this.parts, 'key', options.key, options.name ?? step),
      value: options.value ?? this.parts.value,
      repartitioned: undefined,
    })
  }

  /** The forms of the typed `join`: `(stream or table, joiner, options)` and `(globalTable, selector, joiner, options)`. */
  #joined(
    other: StreamHandle | TableHandle | GlobalTableHandle,
    [first, second, third]: readonly unknown[],
    kind: 'inner' | 'left',
  ): StreamHandle {
    if (other instanceof GlobalTableHandle)
      return this.joinGlobalTable(other, asStep(first), asJoiner(second), asOptions(third), kind === 'left')
    return other instanceof StreamHandle
      ? this.joinStream(other, asJoiner(first), asStreamJoinOptions(second), kind)
      : this.joinTable(other, asJoiner(first), asOptions(second), kind === 'left')
  }
}

/** A `KGroupedStream` with its types forgotten. */
export class GroupedStreamHandle {
  readonly parts: GroupedStreamParts

  constructor(parts: GroupedStreamParts) {
    this.parts = parts
  }

  count(options: StoreOptions & VersionedOption = {}): TableHandle {
    return new TableHandle(grouping.addCount(this.parts, options))
  }

  reduce(reducer: CombineStep, options: ErasedTableOptions = {}): TableHandle {
    return new TableHandle(grouping.addReduce(this.parts, reducer, options))
  }

  aggregate(
    initializer: () => unknown,
    aggregator: CombineStep,
    options: StoreOptions & VersionedOption & { readonly value: AnySerde },
  ): TableHandle {
    return new TableHandle(grouping.addAggregate(this.parts, initializer, aggregator, options))
  }

  windowedBy(windows: WindowsOptions, options: ErasedWindowedBy = {}): WindowedStreamHandle<TableHandle> {
    return new WindowedStreamHandle(windowedBy(this.parts, windows, options), parts => new TableHandle(parts))
  }

  cogroup(aggregator: CombineStep): CogroupedHandle<TableHandle> {
    return new CogroupedHandle([{ grouped: this.parts, aggregator }], parts => new TableHandle(parts))
  }
}

/** A `KTable` with its types forgotten. */
export class TableHandle {
  readonly parts: TableParts

  constructor(parts: TableParts) {
    this.parts = parts
  }

  /** The store behind the table, for a processor; the graph's mistake when there is none. */
  get store(): StoreSpec<unknown> {
    const { definition, node } = this.parts
    return definition === undefined ? { name: node.name } : new DefinedStore(definition)
  }

  filter(predicate: Step, options: ErasedTableOptions = {}): TableHandle {
    return new TableHandle(tableSteps.addTableFilter(this.parts, predicate, true, options))
  }

  filterNot(predicate: Step, options: ErasedTableOptions = {}): TableHandle {
    return new TableHandle(tableSteps.addTableFilter(this.parts, predicate, false, options))
  }

  mapValues(mapper: Step, options: ErasedTableOptions = {}): TableHandle {
    return new TableHandle(tableSteps.addTableMapValues(this.parts, mapper, options))
  }

  transformValues(
    transformer: tableSteps.TransformerSupplier,
    options: Parameters<typeof tableSteps.addTableTransformValues>[2] = {},
  ): TableHandle {
    return new TableHandle(tableSteps.addTableTransformValues(this.parts, transformer, options))
  }

  join(other: TableHandle, joiner: JoinStep, options: ErasedTableOptions = {}): TableHandle {
    return new TableHandle(addTableTableJoin(this.parts, other.parts, joiner, options, 'inner'))
  }

  leftJoin(other: TableHandle, joiner: JoinStep, options: ErasedTableOptions = {}): TableHandle {
    return new TableHandle(addTableTableJoin(this.parts, other.parts, joiner, options, 'left'))
  }

  outerJoin(other: TableHandle, joiner: JoinStep, options: ErasedTableOptions = {}): TableHandle {
    return new TableHandle(addTableTableJoin(this.parts, other.parts, joiner, options, 'outer'))
  }

  foreignKeyJoin(
    other: TableHandle,
    foreignKey: ForeignKeyStep,
    joiner: JoinStep,
    options: ErasedTableOptions,
  ): TableHandle {
    return new TableHandle(addForeignKeyJoin(this.parts, other.parts, foreignKey, joiner, options, false))
  }

  foreignKeyLeftJoin(
    other: TableHandle,
    foreignKey: ForeignKeyStep,
    joiner: JoinStep,
    options: ErasedTableOptions,
  ): TableHandle {
    return new TableHandle(addForeignKeyJoin(this.parts, other.parts, foreignKey, joiner, options, true))
  }

  toStream(selectorOrOptions?: Step | Named, options: Named = {}): StreamHandle {
    if (typeof selectorOrOptions !== 'function') {
      return new StreamHandle(tableSteps.addToStream(this.parts, selectorOrOptions ?? {}))
    }
    return new StreamHandle(tableSteps.addToStream(this.parts, options)).selectKey(asStep(selectorOrOptions))
  }

  groupBy(
    selector: EntrySelector,
    options: Named & { readonly key: AnySerde; readonly value: AnySerde },
  ): GroupedTableHandle {
    return new GroupedTableHandle(tableSteps.addTableGroupBy(this.parts, selector, options))
  }

  suppress(options: ErasedSuppressOptions): TableHandle {
    return new TableHandle(addSuppress(this.parts, options))
  }

  withSerdes({ value }: { readonly value?: AnySerde | undefined }): TableHandle {
    return new TableHandle({ ...this.parts, value: value ?? this.parts.value })
  }
}

/** A `KGroupedTable` with its types forgotten. */
export class GroupedTableHandle {
  readonly parts: GroupedTableParts

  constructor(parts: GroupedTableParts) {
    this.parts = parts
  }

  count(options: StoreOptions & VersionedOption = {}): TableHandle {
    return new TableHandle(tableGrouping.addTableCount(this.parts, options))
  }

  reduce(adder: CombineStep, subtractor: CombineStep, options: StoreOptions & VersionedOption = {}): TableHandle {
    return new TableHandle(tableGrouping.addTableReduce(this.parts, adder, subtractor, options))
  }

  aggregate(
    initializer: () => unknown,
    adder: CombineStep,
    subtractor: CombineStep,
    options: StoreOptions & VersionedOption & { readonly value: AnySerde },
  ): TableHandle {
    return new TableHandle(tableGrouping.addTableAggregate(this.parts, initializer, adder, subtractor, options))
  }
}

/** A `GlobalKTable` with its types forgotten. */
export class GlobalTableHandle {
  readonly definition: StoreDefinition

  constructor(definition: StoreDefinition) {
    this.definition = definition
  }

  get store(): StoreSpec<unknown> {
    return new DefinedStore(this.definition)
  }
}

function asStep(step: unknown): Step
function asStep(step: unknown): unknown {
  return step
}

function asJoiner(joiner: unknown): JoinStep
function asJoiner(joiner: unknown): unknown {
  return joiner
}

function asStreamJoinOptions(options: unknown): ErasedStreamJoinOptions
function asStreamJoinOptions(options: unknown): unknown {
  return options ?? {}
}

function asOptions(options: unknown): Named & SerdePair
function asOptions(options: unknown): unknown {
  return options ?? {}
}
