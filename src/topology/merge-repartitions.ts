import type { Graph } from './graph.ts'
import type { GraphNode } from './graph-node.ts'
import { addRepartition } from './repartition.ts'
import type { Repartition } from './repartition-topic.ts'

/**
 * Puts one repartition topic, right behind the operator that changed the key, in the place of all that follow from it. What
 * stands between the two without changing key or value then comes behind the topic. Kafka Streams:
 * `InternalStreamsBuilder.mergeRepartitionTopics`, which gives up where two topics stand behind the same operator in
 * between; here they are merged, too.
 */
export function mergeRepartitions(graph: Graph): void {
  for (const [changer, repartitions] of repartitionsByChanger(graph)) {
    if (repartitions.length > 0) mergeBehind(graph, changer, repartitions)
  }
  const places = new Map(graph.nodes.map((node, at) => [node, at]))
  for (const { children } of graph.nodes) {
    // In the order of their creation, which is the order they are called in.
    children.splice(0, children.length, ...children.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0)))
  }
}

/** Which repartition topics follow from which operator. Kafka Streams: `keyChangingOperationsToOptimizableRepartitionNodes`. */
function repartitionsByChanger(graph: Graph): ReadonlyMap<GraphNode, readonly Repartition[]> {
  const parentsOf = logicalParents(graph)
  const byFilter = new Map(graph.repartitions.map(repartition => [repartition.filter, repartition]))
  const byChanger = new Map<GraphNode, Repartition[]>()
  for (const node of graph.nodes) {
    if (node.effect === 'changesKey') byChanger.set(node, [])
    const repartition = byFilter.get(node)
    if (repartition === undefined) continue
    const changer = find(node, parentsOf, isKeyChanger)
    const nearest = find(node, parentsOf, other => isKeyChanger(other) || other.effect === 'changesValue')
    if (changer !== undefined && changer === nearest) byChanger.get(changer)?.push(repartition)
  }
  for (const merge of graph.nodes.filter(({ effect }) => effect === 'merges')) {
    const isBehindMerge = ({ filter }: Repartition): boolean => isBelow(filter, merge, parentsOf)
    const changers = [...byChanger].filter(
      ([changer, repartitions]) => repartitions.every(isBehindMerge) && isBelow(merge, changer, parentsOf),
    )
    byChanger.set(merge, [...new Set(changers.flatMap(([, repartitions]) => repartitions))])
    for (const [changer] of changers) byChanger.delete(changer)
  }
  return byChanger
}

function isKeyChanger({ effect }: GraphNode): boolean {
  return effect === 'changesKey'
}

type ParentsOf = (node: GraphNode) => readonly GraphNode[]

/** A repartition topic is one node there: what writes to it is the parent of what reads it. */
function logicalParents(graph: Graph): ParentsOf {
  const filters = new Map(graph.repartitions.map(({ source, filter }) => [source, filter]))
  return node => filters.get(node)?.parents ?? node.parents
}

/** The first node that fits on the way up; of several parents the last one decides, as in the JVM's `findParentNodeMatching`. */
function find(node: GraphNode, parentsOf: ParentsOf, fits: (node: GraphNode) => boolean): GraphNode | undefined {
  if (fits(node)) return node
  let found: GraphNode | undefined
  for (const parent of parentsOf(node)) {
    if (fits(parent)) return parent
    found = find(parent, parentsOf, fits)
  }
  return found
}

function isBelow(node: GraphNode, ancestor: GraphNode, parentsOf: ParentsOf): boolean {
  return find(node, parentsOf, other => parentsOf(other).includes(ancestor)) !== undefined
}

/** How a repartition topic hung in the graph. */
interface Place {
  /** The child of the key changer on the way to the topic; the topic's own filter when nothing stands between. */
  readonly branch: GraphNode | undefined
  readonly isDirect: boolean
  readonly parents: readonly GraphNode[]
  readonly source: GraphNode
  readonly readers: readonly GraphNode[]
}

function mergeBehind(graph: Graph, changer: GraphNode, repartitions: readonly Repartition[]): void {
  const [first] = repartitions
  if (first === undefined) return
  const places = repartitions.map(({ filter, source }): Place => {
    const branch = find(
      filter,
      node => node.parents,
      node => node.parents.includes(changer),
    )
    return { branch, isDirect: branch === filter, parents: filter.parents, source, readers: [...source.children] }
  })
  for (const repartition of repartitions) removeRepartition(graph, repartition)
  const source = addMerged(graph, changer, first)
  for (const { branch, isDirect, parents, source: replaced, readers } of places) {
    if (branch !== undefined && !isDirect && branch.parents.includes(changer)) moveBranch(branch, changer, source)
    const feeders = isDirect ? [source] : parents
    for (const reader of readers) {
      reader.parents = reader.parents.flatMap(parent => (parent === replaced ? feeders : [parent]))
      for (const feeder of feeders) feeder.children.push(reader)
    }
    replaceCopartitioned(graph, replaced, source)
  }
}

/** The one topic, named after the first. Kafka Streams: `createRepartitionNode`. */
function addMerged(graph: Graph, changer: GraphNode, { options, topic }: Repartition): GraphNode {
  const before = graph.nodes.length
  const source = addRepartition(graph, {
    ...options,
    parent: changer,
    // The whole name, so that its nodes are named after it, as in the JVM.
    base: topic,
    origin: 'merged',
  })
  // What reads the topic comes behind it.
  graph.nodes.splice(graph.nodes.indexOf(changer) + 1, 0, ...graph.nodes.splice(before))
  return source
}

function removeRepartition(graph: Graph, { topic, filter, sink, source }: Repartition): void {
  for (const node of [source, sink, filter]) graph.remove(node)
  graph.numberedResources = graph.numberedResources.filter(name => name !== topic)
}

function moveBranch(branch: GraphNode, from: GraphNode, to: GraphNode): void {
  from.children.splice(from.children.indexOf(branch), 1)
  branch.parents = branch.parents.map(parent => (parent === from ? to : parent))
  to.children.push(branch)
}

/** Kafka Streams: `InternalTopologyBuilder.maybeUpdateCopartitionSourceGroups`. */
function replaceCopartitioned(graph: Graph, replaced: GraphNode, source: GraphNode): void {
  for (const [at, group] of graph.copartitioned.entries()) {
    if (group.includes(replaced)) {
      graph.copartitioned[at] = [...new Set(group.map(node => (node === replaced ? source : node)))]
    }
  }
}
