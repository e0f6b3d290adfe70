import { keyed } from '../operators/stateless.ts'
import { sink } from '../operators/sink.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { Graph } from './graph.ts'
import type { RepartitionOptions } from './repartition-topic.ts'
import { IGNORES, PASSES, type GraphNode } from './graph-node.ts'

const SUFFIX = '-repartition'
/** Topics that are numbered keep numbered nodes; named ones name them too. Kafka Streams: `KStreamImpl.createRepartitionedSource`. */
const NUMBERED = /^(?:KSTREAM|KTABLE|COGROUPKSTREAM)-.*-\d{10}$/

/** Names of a topic's nodes, by number. Numbers are taken in any case, as in the JVM, so that naming a topic renames nothing else. */
export function takeRepartitionNumbers(graph: Graph): {
  readonly sink: string
  readonly filter: string
  readonly source: string
} {
  return {
    sink: graph.numberedName('KSTREAM-SINK-'),
    filter: graph.numberedName('KSTREAM-FILTER-'),
    source: graph.numberedName('KSTREAM-SOURCE-'),
  }
}

/** Adds a repartition topic: filter, sink and the source that reads it back. Returns the source. */
export function addRepartition(graph: Graph, options: RepartitionOptions): GraphNode {
  const { base } = options
  const topic = base.endsWith(SUFFIX) ? base : `${base}${SUFFIX}`
  const numbered = takeRepartitionNumbers(graph)
  const isNumbered = NUMBERED.test(topic.slice(0, -SUFFIX.length))
  if (isNumbered) graph.numberedResources.push(topic)
  const names =
    isNumbered && options.origin !== 'merged'
      ? numbered
      : { sink: `${topic}-sink`, filter: `${topic}-filter`, source: `${topic}-source` }
  const filter = graph.add({
    name: names.filter,
    parents: [options.parent],
    use: () => PASSES,
    compile: compiler =>
      reachesKeylessJoin(graph, source)
        ? compiler.next
        : keyed(() => {
            compiler.dropped('nullKey')
          }, compiler.next),
  })
  const target = addRepartitionSink(graph, { ...options, parent: filter, name: names.sink, topic })
  const source = addRepartitionSource(graph, { ...options, name: names.source, topic })
  if (options.origin === undefined) graph.repartitions.push({ options, topic, filter, sink: target, source })
  return source
}

/** Adds the sink of a repartition topic. */
export function addRepartitionSink(
  graph: Graph,
  options: Omit<RepartitionOptions, 'parent'> & {
    readonly parent: GraphNode | readonly GraphNode[]
    readonly name: string
    readonly topic: string
  },
): GraphNode {
  const { name, topic, key, value, partitions, partitioner } = options
  return graph.add({
    name,
    kind: 'sink',
    parents: Array.isArray(options.parent) ? options.parent : [options.parent],
    sink: { topic, internal: true, partitions },
    use: side => ({ reads: partitioner !== undefined, passes: false, writes: [side === 'key' ? key : value] }),
    serdes: { key, value },
    compile: compiler => {
      const target = compiler.internalTopic(topic)
      return sink({
        ...compiler.site,
        output: compiler.output,
        topic: target,
        bytes: compiler.recordBytes(key, value, target),
        partitioner,
        dropped: compiler.dropped,
      })
    },
  })
}

/** Adds the source of a repartition topic. */
export function addRepartitionSource(
  graph: Graph,
  {
    name,
    topic,
    key,
    value,
  }: { readonly name: string; readonly topic: string; readonly key: AnySerde; readonly value: AnySerde },
): GraphNode {
  return graph.add({
    name,
    kind: 'source',
    parents: [],
    source: {
      topics: [topic],
      internal: true,
      role: 'stream',
      key,
      value,
      timestamp: undefined,
      onInvalidTimestamp: 'fail',
      // Nothing may be lost between two subtopologies, whatever the application's reset policy is.
      offsetReset: 'earliest',
      onOutOfRange: 'fail',
      errors: undefined,
    },
    use: () => IGNORES,
    serdes: { key, value },
    compile: compiler => compiler.next,
  })
}

/**
 * Whether a join that wants records without a key follows from a node, through further topics or not. Kafka Streams:
 * `NodesWithRelaxedNullKeyJoinDownstream`.
 */
function reachesKeylessJoin(graph: Graph, start: GraphNode): boolean {
  const seen = new Set([start])
  for (const node of seen) {
    if (graph.keylessJoins.has(node)) return true
    for (const child of node.children) seen.add(child)
    const topic = node.sink?.internal === true ? node.sink.topic : undefined
    if (topic === undefined) continue
    for (const other of graph.nodes) {
      if (other.source?.internal === true && other.source.topics.includes(topic)) seen.add(other)
    }
  }
  return false
}
