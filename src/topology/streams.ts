import { MillraceError, asMillraceError } from '../model/errors.ts'
import { checkArguments } from './argument-checks.ts'
import { BuilderHandle } from './builder-handle.ts'
import { Graph, topologyInvalid } from './graph.ts'
import { mergeRepartitions } from './merge-repartitions.ts'
import type { Optimization } from './optimization.ts'
import type { StreamsBuilder } from './streams-builder.ts'
import { BuiltTopology, type Topology } from './topology.ts'

/**
 * Builds a graph: `export default streams(builder => { … })`. Runs at once; all mistakes of the graph are reported in one
 * `MillraceError` `TOPOLOGY_INVALID`. Kafka Streams: `new StreamsBuilder()` … `build()`.
 *
 * @throws MillraceError `TOPOLOGY_INVALID`
 */
export function streams(define: (builder: StreamsBuilder) => void): Topology {
  return buildTopology(builder => {
    define(typed(builder))
  })
}

/**
 * As `streams`, for callers whose types are checked elsewhere: the YAML builder.
 *
 * @throws MillraceError `TOPOLOGY_INVALID`
 */
export function buildTopology(define: (builder: BuilderHandle) => void): Topology {
  return new BuiltTopology(buildGraph(define), optimizations => buildGraph(define, optimizations))
}

function buildGraph(define: (builder: BuilderHandle) => void, optimizations?: ReadonlySet<Optimization>): Graph {
  const graph = new Graph(optimizations)
  const builder = new BuilderHandle(graph)
  try {
    define(builder)
  } catch (thrown) {
    // A mistake may have made the user's code trip over itself: what was found before explains it.
    if (graph.problems.length === 0) throw thrown instanceof MillraceError ? thrown : wrapped(thrown)
    graph.problems.push(asMillraceError(thrown))
  }
  if (graph.problems.length > 0) throw topologyInvalid(graph.problems)
  if (graph.optimizations.has('merge.repartition.topics')) mergeRepartitions(graph)
  return graph
}

// JavaScript calls the methods of the handles without the types that would refuse what it hands over.
checkArguments()

/** The typed surface over the untyped builder: the only place where the two meet. */
function typed(builder: BuilderHandle): StreamsBuilder
function typed(builder: unknown): unknown {
  return builder
}

function wrapped(thrown: unknown): MillraceError {
  return new MillraceError('TOPOLOGY_INVALID', {
    cause: thrown,
    what: `The function that builds the graph failed: ${String(thrown)}`,
  })
}
