import { aggregate } from '../operators/aggregate.ts'
import type { CombineStep } from '../operators/step.ts'
import { aggregateFold } from '../operators/windowed-aggregation.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { Graph } from './graph.ts'
import { PASSES, READS, type GraphNode } from './graph-node.ts'
import { MaterializedResult } from './materialized.ts'
import type { StoreOptions, VersionedOption } from './options.ts'
import { union, type ErasedWindowedOptions, type GroupedStreamParts, type TableParts } from './parts.ts'
import { readsOf } from './reads.ts'
import { repartitionOf } from './stream-grouping.ts'
import type { TableOrigin } from './table-origin.ts'
import type { ErasedWindowedBy } from './windowed-grouping.ts'
import { lateTopicOf } from './windowed-grouping.ts'
import { addWindowedNode, windowedKeySerde, windowedStore } from './windowed-node.ts'
import { windowedTable } from './windowed-table.ts'
import { windowsOf, type WindowsDefinition, type WindowsOptions } from './windows.ts'

const AGGREGATE = 'COGROUPKSTREAM-AGGREGATE-'
const MERGE = 'COGROUPKSTREAM-MERGE-'

/** A grouped stream that feeds a common aggregate, and how. */
export interface CogroupedInput {
  readonly grouped: GroupedStreamParts
  readonly aggregator: CombineStep
}

/** Several grouped streams that feed one aggregate. */
export type CogroupedParts = readonly [CogroupedInput, ...CogroupedInput[]]

/** Cogrouped streams in windows. */
export interface WindowedCogroupedParts {
  readonly inputs: CogroupedParts
  readonly windows: WindowsDefinition
  readonly emitsFinal: boolean
  readonly lateTopic: string | undefined
}

/** `windowedBy` of cogrouped streams. */
export function cogroupedWindowedBy(
  inputs: CogroupedParts,
  windows: WindowsOptions,
  { emit, late }: ErasedWindowedBy,
): WindowedCogroupedParts {
  const { graph } = inputs[0].grouped.stream
  return {
    inputs,
    windows: windowsOf(graph, windows, 'windowedBy'),
    emitsFinal: emit === 'final',
    lateTopic: late?.topic,
  }
}

/** `aggregate` of cogrouped streams. */
export function addCogrouped(
  inputs: CogroupedParts,
  initializer: () => unknown,
  options: StoreOptions & VersionedOption & { readonly value: AnySerde },
): TableParts {
  const { graph, key, storeName, parents } = beginCogroup(inputs, options)
  const result = new MaterializedResult(graph, storeName, { key, value: options.value }, options)
  const { origin, definition } = result
  const nodes = inputs.map(({ aggregator }, at) => {
    const node = graph.add({
      name: aggregateName(graph, options.name, at),
      parents: parentAt(parents, at),
      ...result.keeps,
      use: side => (side === 'value' ? READS : { ...PASSES, reads: readsOf(aggregator, 'key'), writes: [key] }),
      serdes: { key, value: options.value },
      compile: compiler => {
        const { store, next } = result.compile(compiler)
        return aggregate(
          {
            ...compiler.site,
            store,
            keyBytes: compiler.keyBytes(key, compiler.changelogTopic(storeName)),
            dropped: compiler.dropped,
            sendsOld: origin.sendsOld,
          },
          initializer,
          aggregator,
          next,
        )
      },
    })
    graph.connect(node, storeName)
    return node
  })
  return mergedTable(inputs, { graph, nodes, parents, key, value: options.value, origin, definition }, options.name)
}

/** `aggregate` of cogrouped streams in windows; sessions need a merger. */
export function addWindowedCogrouped(
  { inputs, windows, emitsFinal, lateTopic }: WindowedCogroupedParts,
  initializer: () => unknown,
  options: ErasedWindowedOptions & { readonly value: AnySerde; readonly merge?: CombineStep | undefined },
): TableParts {
  const { graph, key, storeName, parents } = beginCogroup(inputs, options)
  const definition = windowedStore(graph, windows, { name: storeName, key, value: options.value, options, emitsFinal })
  const origin = windowedTable(storeName, windows.kind === 'session' ? 'session' : 'window')
  const windowedKey = windowedKeySerde(windows, key)
  graph.addStore(definition)
  if (windows.kind === 'session' && options.merge === undefined) {
    graph.report('TOPOLOGY_INVALID', {
      node: storeName,
      what: 'An aggregate of sessions needs a merger: two sessions may grow together.',
      action: 'Give `aggregate` the merger as its second argument, (earlier, later) => state.',
    })
  }
  const nodes = inputs.map(({ grouped, aggregator }, at) => {
    const name = aggregateName(graph, options.name, at)
    return addWindowedNode(graph, {
      name,
      parent: parentAt(parents, at)[0],
      definition,
      origin,
      windowedKey,
      windows,
      emitsFinal,
      fold: aggregateFold(initializer, aggregator),
      merge: options.merge ?? ((left): unknown => left),
      useOfValue: READS,
      readers: options.merge === undefined ? [aggregator] : [aggregator, options.merge],
      late: lateTopicOf({ grouped, windows, emitsFinal, lateTopic }, name),
    })
  })
  const table = { graph, nodes, parents, key: windowedKey, value: options.value, origin, definition }
  return { ...mergedTable(inputs, table, options.name), windows }
}

/** Kafka Streams: `CogroupedStreamAggregateBuilder.processRepartitions`, with its order of taking numbers. */
function beginCogroup(
  inputs: CogroupedParts,
  options: StoreOptions,
): {
  readonly graph: Graph
  readonly key: AnySerde
  readonly storeName: string
  readonly parents: readonly GraphNode[]
} {
  const [{ grouped: first }] = inputs
  const { graph } = first.stream
  const key = withoutNull(first.key)
  const storeName = options.store ?? graph.numberedStoreName(AGGREGATE)
  if (options.store === undefined) graph.numberedResources.push(storeName)
  for (const { grouped } of inputs) {
    if (withoutNull(grouped.key).name === key.name) continue
    graph.report('SERDE_MISMATCH', {
      node: storeName,
      what: `Streams that feed ${storeName} have keys written as ${key.name} and as ${grouped.key.name}: equal keys would have different bytes.`,
    })
  }
  let unnamed = 0
  const parents = inputs.map(({ grouped }) => {
    if (!grouped.stream.rekeyed) return grouped.stream.node
    if (grouped.name === undefined) unnamed += 1
    // The JVM names every unnamed topic after the store, and refuses the second one.
    return repartitionOf(grouped, unnamed > 1 ? `${storeName}-${String(unnamed)}` : storeName)
  })
  graph.copartitioned.push(sourcesOf(inputs, parents))
  return { graph, key, storeName, parents }
}

interface MergedTable {
  readonly graph: Graph
  readonly nodes: readonly GraphNode[]
  readonly parents: readonly GraphNode[]
  readonly key: AnySerde
  readonly value: AnySerde
  readonly origin: TableOrigin
  readonly definition: StoreDefinition
}

/** The node all inputs lead to. Kafka Streams: `KTablePassThrough`. */
function mergedTable(inputs: CogroupedParts, table: MergedTable, name: string | undefined): TableParts {
  const { graph, nodes, parents, key, value, origin, definition } = table
  const node = graph.add({
    name: graph.nameOr(name === undefined ? undefined : `${name}-cogroup-merge`, MERGE),
    parents: nodes,
    use: () => PASSES,
    serdes: { key, value },
    compile: ({ next }) => next,
  })
  return { graph, node, key, value, origin, definition, sources: sourcesOf(inputs, parents) }
}

function sourcesOf(inputs: CogroupedParts, parents: readonly GraphNode[]): readonly GraphNode[] {
  let sources: readonly GraphNode[] = []
  for (const [at, { grouped }] of inputs.entries()) {
    sources = union(sources, grouped.stream.rekeyed ? parentAt(parents, at) : grouped.stream.sources)
  }
  return sources
}

function aggregateName(graph: Graph, name: string | undefined, at: number): string {
  return graph.nameOr(name === undefined ? undefined : `${name}-cogroup-agg-${String(at)}`, AGGREGATE)
}

function parentAt(parents: readonly GraphNode[], at: number): readonly [GraphNode] {
  const parent = parents[at]
  if (parent === undefined) throw new RangeError('every input of a cogroup has a parent')
  return [parent]
}
