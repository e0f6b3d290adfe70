import type { StreamsProperties } from './properties.ts'
import type { TopologyDescription } from './topology-description.ts'
import type { Graph } from './graph.ts'
import { describeGraph } from './description.ts'

/** A graph; some properties (`topology.optimization`, naming rules) have their say when an instance or a test driver takes it. Kafka Streams: `Topology`. */
export interface Topology {
  /** Sub-topologies, nodes, stores and topics under the given properties; `String(…)` of it gives the JVM's text. Kafka Streams: `build(properties).describe()`. */
  describe(properties?: Partial<StreamsProperties>): TopologyDescription
}

/** A topology as `streams` makes it; recognised by its class. */
export class BuiltTopology implements Topology {
  readonly #plain: Graph
  readonly #rebuild: () => Graph
  #optimized: Graph | undefined

  /** @param rebuild - builds the graph again with optimizations; only called when they would change it */
  constructor(graph: Graph, rebuild: () => Graph) {
    this.#plain = graph
    this.#rebuild = rebuild
  }

  /** The graph under given properties. Kafka Streams: `StreamsBuilder.build(Properties)`. */
  graphFor(properties: Partial<StreamsProperties>): Graph {
    if (properties['topology.optimization'] !== 'all' || !this.#plain.hasSelfJoin) return this.#plain
    this.#optimized ??= this.#rebuild()
    return this.#optimized
  }

  describe(properties: Partial<StreamsProperties> = {}): TopologyDescription {
    return describeGraph(this.graphFor(properties))
  }
}

/** Whether a value is a topology made by `streams`. */
export function isTopology(value: unknown): value is Topology {
  return value instanceof BuiltTopology
}
