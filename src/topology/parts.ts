import type { AnySerde, Serializer } from '../serdes/serde.ts'
import type { Duration } from '../model/duration.ts'
import type { PartitionerStep } from '../operators/sink.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { Graph } from './graph.ts'
import type { GraphNode } from './graph-node.ts'
import type { StoreOptions, VersionedOption } from './options.ts'
import type { TableOrigin } from './table-origin.ts'
import type { WindowsDefinition } from './windows.ts'

/** Serdes a step may be given, their types forgotten. */
export interface SerdePair {
  readonly key?: AnySerde | undefined
  readonly value?: AnySerde | undefined
}

/** Options of a step: its name. */
export interface Named {
  readonly name?: string | undefined
}

/** Options of `to`, their types forgotten. */
export interface ErasedSinkOptions extends Named {
  readonly key?: Serializer<never> | undefined
  readonly value?: Serializer<never> | undefined
  readonly partitioner?: PartitionerStep | undefined
}

/** Options of `repartition`, their types forgotten. */
export interface ErasedRepartitionOptions extends Named, SerdePair {
  readonly partitions?: number | undefined
  readonly partitioner?: PartitionerStep | undefined
}

/** Options of a table step: a store makes it kept. */
export interface ErasedTableOptions extends StoreOptions, VersionedOption {
  readonly value?: AnySerde | undefined
}

/** Options of a windowed step, their types forgotten. */
export interface ErasedWindowedOptions extends ErasedTableOptions {
  readonly retention?: Duration | undefined
}

/** A stream as the graph knows it. */
export interface StreamParts extends SerdePair {
  readonly graph: Graph
  readonly node: GraphNode
  /** The key changed since the records were last partitioned by it. */
  readonly rekeyed: boolean
  /** Sources of the present subtopology: what a join has to be co-partitioned with. */
  readonly sources: readonly GraphNode[]
}

/** A grouped stream as the graph knows it. */
export interface GroupedStreamParts {
  readonly stream: StreamParts
  /** Base of the repartition topic's name. */
  readonly name: string | undefined
  readonly key: AnySerde
  readonly value: AnySerde | undefined
  /** A repartition topic with a name of its own, once it is there. */
  repartitioned: GraphNode | undefined
}

/** A table as the graph knows it. */
export interface TableParts {
  readonly graph: Graph
  readonly node: GraphNode
  readonly key: AnySerde
  readonly value: AnySerde | undefined
  readonly origin: TableOrigin
  /** Of a table of windows. */
  readonly windows?: WindowsDefinition | undefined
  /** Its own store, if it has a name. */
  readonly definition: StoreDefinition | undefined
  readonly sources: readonly GraphNode[]
}

/** A grouped table as the graph knows it. */
export interface GroupedTableParts {
  readonly graph: Graph
  readonly node: GraphNode
  readonly name: string | undefined
  readonly key: AnySerde
  readonly value: AnySerde
  repartitioned: GraphNode | undefined
}

/** Each of both, once. */
export function union(a: readonly GraphNode[], b: readonly GraphNode[]): readonly GraphNode[] {
  return [...new Set([...a, ...b])]
}
