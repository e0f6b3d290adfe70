import type { CombineStep } from '../operators/step.ts'
import { aggregateFold, COUNT_FOLD, reduceFold, type Fold } from '../operators/windowed-aggregation.ts'
import { long } from '../serdes/numbers.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { IGNORES, READS, type SideUse } from './graph-node.ts'
import type { ErasedWindowedOptions, GroupedStreamParts, TableParts } from './parts.ts'
import { repartitionOf } from './stream-grouping.ts'
import { serdeOf } from './stream-serdes.ts'
import { addWindowedNode, windowedKeySerde, windowedStore, type LateTopic } from './windowed-node.ts'
import { windowedTable } from './windowed-table.ts'
import { windowsOf, type WindowsDefinition, type WindowsOptions } from './windows.ts'

/** A grouped stream in windows as the graph knows it. */
export interface WindowedStreamParts {
  readonly grouped: GroupedStreamParts
  readonly windows: WindowsDefinition
  readonly emitsFinal: boolean
  readonly lateTopic: string | undefined
}

/** Options of `windowedBy`, their types forgotten. */
export interface ErasedWindowedBy {
  readonly emit?: 'updates' | 'final' | undefined
  readonly late?: { readonly topic: string } | undefined
}

/** `windowedBy`. */
export function windowedBy(
  grouped: GroupedStreamParts,
  windows: WindowsOptions,
  { emit, late }: ErasedWindowedBy,
): WindowedStreamParts {
  const { graph } = grouped.stream
  return {
    grouped,
    windows: windowsOf(graph, windows, grouped.name ?? 'windowedBy'),
    emitsFinal: emit === 'final',
    lateTopic: late?.topic,
  }
}

interface WindowedAggregation {
  readonly prefix: string
  readonly value: AnySerde
  readonly fold: Fold
  readonly merge: CombineStep
  readonly useOfValue: SideUse
  /** User code that may read the key. */
  readonly readers: readonly object[]
}

/** `count` in windows. */
export function addWindowedCount(parts: WindowedStreamParts, options: ErasedWindowedOptions): TableParts {
  return addWindowed(parts, options, {
    prefix: 'KSTREAM-AGGREGATE-',
    value: long,
    fold: COUNT_FOLD,
    merge: (left, right) => Number(left) + Number(right),
    // A sliding window takes no record without a value; that is asked without reading it.
    useOfValue: IGNORES,
    readers: [],
  })
}

/** `reduce` in windows. */
export function addWindowedReduce(
  parts: WindowedStreamParts,
  reducer: CombineStep,
  options: ErasedWindowedOptions,
): TableParts {
  const { grouped } = parts
  const fold = reduceFold(reducer)
  return addWindowed(parts, options, {
    prefix: 'KSTREAM-REDUCE-',
    value: serdeOf(grouped.stream, 'value', options.value ?? grouped.value, options.name ?? 'reduce'),
    fold,
    merge: fold.add,
    useOfValue: READS,
    readers: [reducer],
  })
}

/** `aggregate` in windows of time, or in sessions with a merger. */
export function addWindowedAggregate(
  parts: WindowedStreamParts,
  initializer: () => unknown,
  aggregator: CombineStep,
  options: ErasedWindowedOptions & { readonly value: AnySerde; readonly merge?: CombineStep | undefined },
): TableParts {
  const { graph } = parts.grouped.stream
  if (parts.windows.kind === 'session' && options.merge === undefined) {
    graph.report('TOPOLOGY_INVALID', {
      node: options.name ?? 'aggregate',
      what: 'An aggregate of sessions needs a merger: two sessions may grow together.',
      action: 'Give `aggregate` the merger as its third argument, (earlier, later) => state.',
    })
  }
  return addWindowed(parts, options, {
    prefix: 'KSTREAM-AGGREGATE-',
    value: options.value,
    fold: aggregateFold(initializer, aggregator),
    merge: options.merge ?? ((left): unknown => left),
    useOfValue: READS,
    readers: options.merge === undefined ? [aggregator] : [aggregator, options.merge],
  })
}

function addWindowed(
  parts: WindowedStreamParts,
  options: ErasedWindowedOptions,
  kind: WindowedAggregation,
): TableParts {
  const { grouped, windows, emitsFinal } = parts
  const { graph, node: streamNode, rekeyed, sources } = grouped.stream
  const key = withoutNull(grouped.key)
  const storeName = options.store ?? graph.numberedStoreName(kind.prefix)
  if (options.store === undefined) graph.numberedResources.push(storeName)
  const name = graph.nameOr(options.name, kind.prefix)
  const parent = rekeyed ? repartitionOf(grouped, storeName) : streamNode
  const definition = windowedStore(graph, windows, {
    name: storeName,
    key,
    value: kind.value,
    options,
    emitsFinal: parts.emitsFinal,
  })
  const origin = windowedTable(storeName, windows.kind === 'session' ? 'session' : 'window')
  const windowedKey = windowedKeySerde(windows, key)
  graph.addStore(definition)
  const node = addWindowedNode(graph, {
    ...kind,
    name,
    parent,
    definition,
    origin,
    windowedKey,
    windows,
    emitsFinal,
    late: lateTopicOf(parts, name),
  })
  return {
    graph,
    node,
    key: windowedKey,
    value: kind.value,
    origin,
    definition,
    sources: rekeyed ? [parent] : sources,
    windows,
  }
}

/** Where late records of a grouped stream go. */
export function lateTopicOf({ grouped, lateTopic }: WindowedStreamParts, name: string): LateTopic | undefined {
  if (lateTopic === undefined) return undefined
  return {
    topic: lateTopic,
    key: grouped.key,
    value: serdeOf(grouped.stream, 'value', grouped.value, name),
  }
}

/** The arguments of `aggregate` after the aggregator: options, or a merger and options. */
export function aggregateArguments(rest: readonly unknown[]): {
  readonly merge: CombineStep | undefined
  readonly options: ErasedWindowedOptions & { readonly value: AnySerde; readonly merge?: CombineStep | undefined }
} {
  const [first, second] = rest
  return typeof first === 'function'
    ? { merge: asMerger(first), options: asOptions(second) }
    : { merge: undefined, options: asOptions(first) }
}

function asMerger(merger: unknown): CombineStep
function asMerger(merger: unknown): unknown {
  return merger
}

function asOptions(options: unknown): ErasedWindowedOptions & { readonly value: AnySerde }
function asOptions(options: unknown): unknown {
  return options
}
