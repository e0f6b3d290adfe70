import type { PartitionerStep } from '../operators/sink.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { GraphNode } from './graph-node.ts'

/** What a repartition topic is written from. */
export interface RepartitionOptions {
  readonly parent: GraphNode
  /** Base of the topic's name. */
  readonly base: string
  readonly key: AnySerde
  readonly value: AnySerde
  readonly partitions?: number | undefined
  readonly partitioner?: PartitionerStep | undefined
  /** The user has asked for the topic, or it stands for several already: it stays what it is. @default it may be merged */
  readonly origin?: 'askedFor' | 'merged'
}

/** A repartition topic of the graph. Kafka Streams: `OptimizableRepartitionNode`. */
export interface Repartition {
  readonly options: RepartitionOptions
  readonly topic: string
  readonly filter: GraphNode
  readonly sink: GraphNode
  readonly source: GraphNode
}
