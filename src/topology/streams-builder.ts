import type { AnySerde, Bytes, Serde, SerdeType } from '../serdes/serde.ts'
import type { StoreSpec } from '../stores/store-spec.ts'
import type { KStream, KTable } from './dsl.ts'
import type { GlobalKTable } from './dsl-types.ts'
import type { Present, StreamSourceOptions, TableSourceOptions } from './options.ts'
import type { StreamsProperties } from './properties.ts'

/** Builds the graph; handed to the function given to `streams`. Kafka Streams: `StreamsBuilder`. */
export interface StreamsBuilder {
  /** Reads one or several topics as a stream; a side without serde stays nullable bytes. Kafka Streams: `stream(topics, Consumed)`. */
  stream<KS extends AnySerde = Serde<Bytes | null>, VS extends AnySerde = Serde<Bytes | null>>(
    topics: string | readonly [string, ...string[]],
    options?: StreamSourceOptions<KS, VS, SerdeType<KS>, SerdeType<VS>>,
  ): KStream<SerdeType<KS>, SerdeType<VS>>
  /** Reads a topic as a table. Kafka Streams: `table(topic, Consumed, Materialized)`. */
  table<K, V>(topic: string, options: TableSourceOptions<K, V>): KTable<Present<K>, Present<V>>
  /** Reads a topic as a table held in full by every instance. Kafka Streams: `globalTable(topic, Consumed, Materialized)`. */
  globalTable<K, V>(topic: string, options: TableSourceOptions<K, V>): GlobalKTable<Present<K>, Present<V>>
  /** Adds a store before a processor uses it; only needed to fix its place in the numbering. Kafka Streams: `addStateStore`. */
  addStateStore(store: StoreSpec<unknown>): void
}

/** A graph; some properties (`topology.optimization`, naming rules) have their say when an instance or a test driver takes it. Kafka Streams: `Topology`. */
export interface Topology {
  /** Sub-topologies, nodes, stores and topics under the given properties; `String(…)` of it gives the JVM's text. Kafka Streams: `build(properties).describe()`. */
  describe(properties?: Partial<StreamsProperties>): TopologyDescription
}
/** What a graph consists of. Kafka Streams: `TopologyDescription`. */
export interface TopologyDescription {
  /** The parts that are scheduled as tasks. */
  readonly subtopologies: readonly SubtopologyDescription[]
  /** The JVM's text form. */
  toString(): string
}
/** One part of a graph, connected without an internal topic. Kafka Streams: `TopologyDescription.Subtopology`. */
export interface SubtopologyDescription {
  /** Its number, the first part of task ids. */
  readonly id: number
  /** Its nodes in order. */
  readonly nodes: readonly NodeDescription[]
}
/** One node of a graph. Kafka Streams: `TopologyDescription.Node`. */
export interface NodeDescription {
  /** Its name. */
  readonly name: string
  /** What it is. */
  readonly kind: 'source' | 'processor' | 'sink'
  /** Topics it reads or writes. */
  readonly topics: readonly string[]
  /** Stores it uses. */
  readonly stores: readonly string[]
  /** Names of the nodes after it. */
  readonly successors: readonly string[]
  /** Names of the serdes of its output. */
  readonly serdes: { readonly key: string | undefined; readonly value: string | undefined }
}
