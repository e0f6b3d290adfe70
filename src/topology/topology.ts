import { MillraceError } from '../model/errors.ts'
import { VERSION } from '../model/version.ts'
import type { StreamsProperties } from './properties.ts'
import type { TopologyDescription } from './topology-description.ts'
import type { Graph } from './graph.ts'
import { optimizationsOf, type Optimization } from './optimization.ts'
import { describeGraph } from './description.ts'

/** A graph; some properties (`topology.optimization`, naming rules) have their say when an instance or a test driver takes it. Kafka Streams: `Topology`. */
export interface Topology {
  /** Sub-topologies, nodes, stores and topics under the given properties; `String(…)` of it gives the JVM's text. Kafka Streams: `build(properties).describe()`. */
  describe(properties?: Partial<StreamsProperties>): TopologyDescription
}

/** Known to every copy of millrace in the process: an application may have one installed beside that of the command line. */
const TOPOLOGY_VERSION = Symbol.for('millrace.topology.version')

/** A topology as `streams` makes it; recognised by its mark, whichever copy of millrace made it. */
export class BuiltTopology implements Topology {
  /** Version of the millrace that built it. */
  readonly [TOPOLOGY_VERSION]: string = VERSION
  readonly #plain: Graph
  readonly #rebuild: (optimizations: ReadonlySet<Optimization>) => Graph
  readonly #optimized = new Map<string, Graph>()

  /** @param rebuild - builds the graph again with optimizations; only called when they would change it */
  constructor(graph: Graph, rebuild: (optimizations: ReadonlySet<Optimization>) => Graph) {
    this.#plain = graph
    this.#rebuild = rebuild
  }

  /** The graph under given properties. Kafka Streams: `StreamsBuilder.build(Properties)`. */
  graphFor(properties: Partial<StreamsProperties>): Graph {
    const optimizations = optimizationsOf(properties['topology.optimization'])
    const changes =
      (optimizations.has('single.store.self.join') && this.#plain.hasSelfJoin) ||
      (optimizations.has('merge.repartition.topics') && this.#plain.repartitions.length > 0)
    if (!changes) return this.#plain
    const names = [...optimizations].toSorted().join()
    const graph = this.#optimized.get(names) ?? this.#rebuild(optimizations)
    this.#optimized.set(names, graph)
    return graph
  }

  describe(properties: Partial<StreamsProperties> = {}): TopologyDescription {
    return describeGraph(this.graphFor(properties))
  }
}

/** Whether a value is a topology made by `streams`, of this or another copy of millrace. */
export function isTopology(value: unknown): value is Topology {
  return typeof value === 'object' && value !== null && TOPOLOGY_VERSION in value
}

/**
 * A topology to plan. The parts of a graph are private to a version, so another version's graph is not read.
 *
 * @throws MillraceError `USAGE` when `streams` of this version did not make it
 */
export function asBuiltTopology(topology: Topology): BuiltTopology {
  if (!isMarked(topology)) {
    throw new MillraceError('USAGE', { what: 'A topology is what `streams(builder => { … })` returns.' })
  }
  const version = topology[TOPOLOGY_VERSION]
  if (version === VERSION) return topology
  throw new MillraceError('USAGE', {
    what: `The topology was built by millrace ${version}, and millrace ${VERSION} is to run it: two copies are installed.`,
    action:
      'Install one version: `npm ls millrace` shows both; run the command line of the application (`npx millrace`).',
  })
}

function isMarked(topology: Topology): topology is BuiltTopology {
  return isTopology(topology)
}
