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
  readonly graph: Graph

  constructor(graph: Graph) {
    this.graph = graph
  }

  describe(_properties: Partial<StreamsProperties> = {}): TopologyDescription {
    return describeGraph(this.graph)
  }
}

/** Whether a value is a topology made by `streams`. */
export function isTopology(value: unknown): value is Topology {
  return value instanceof BuiltTopology
}
