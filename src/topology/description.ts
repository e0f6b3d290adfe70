import type { AnySerde } from '../serdes/serde.ts'
import type { Graph } from './graph.ts'
import type { GraphNode } from './graph-node.ts'
import { hashOrder } from './java-order.ts'
import { groupNodes, type NodeGroup } from './subtopologies.ts'
import type { NodeDescription, SubtopologyDescription, TopologyDescription } from './topology-description.ts'

/** Describes a graph, as data and as the JVM's text. Kafka Streams: `InternalTopologyBuilder.describe`. */
export function describeGraph(graph: Graph): TopologyDescription {
  const groups = groupNodes(graph)
  return {
    subtopologies: groups.filter(group => !group.isGlobal).map(describeGroup),
    toString: () => `Topologies:\n ${groups.map(textOfGroup).join('')}`,
  }
}

function describeGroup({ id, nodes }: NodeGroup): SubtopologyDescription {
  return { id, nodes: ordered(nodes).map(({ node }) => describeNode(node)) }
}

function describeNode(node: GraphNode): NodeDescription {
  const topics = node.source?.topics ?? (node.sink?.topic === undefined ? [] : [node.sink.topic])
  return {
    name: node.name,
    kind: node.kind,
    topics,
    stores: [...node.stores].toSorted(),
    successors: node.children.map(child => child.name),
    serdes: { key: nameOf(node.serdes.key), value: nameOf(node.serdes.value) },
  }
}

function nameOf(serde: AnySerde | undefined): string | undefined {
  return serde?.name
}

function textOfGroup({ id, nodes, isGlobal }: NodeGroup): string {
  const body = ordered(nodes).map(textOfNode).join('')
  const title = `  Sub-topology: ${String(id)}`
  return isGlobal ? `${title} for global store (will not generate tasks)\n${body}` : `${title}\n${body}\n`
}

function textOfNode({ node, successors, predecessors }: OrderedNode): string {
  const after = node.kind === 'sink' ? '' : `      --> ${namesOf(successors)}\n`
  const before = node.kind === 'source' ? '' : `      <-- ${namesOf(predecessors)}\n`
  return `    ${headOf(node)}\n${after}${before}`
}

function headOf(node: GraphNode): string {
  switch (node.kind) {
    case 'source':
      return `Source: ${node.name} (topics: [${hashOrder(node.source?.topics ?? []).join(', ')}])`
    case 'processor':
      return `Processor: ${node.name} (stores: [${hashOrder([...node.stores]).join(', ')}])`
    case 'sink':
      return node.sink?.topic === undefined
        ? `Sink: ${node.name} (extractor class: <user code>)`
        : `Sink: ${node.name} (topic: ${node.sink.topic})`
  }
}

function namesOf(nodes: readonly OrderedNode[]): string {
  return nodes.length === 0 ? 'none' : nodes.map(({ node }) => node.name).join(', ')
}

/** A node while its group is put in order, with the number of nodes below it counted so far. */
interface OrderedNode {
  readonly node: GraphNode
  size: number
  readonly successors: OrderedNode[]
  readonly predecessors: OrderedNode[]
}

/**
 * Nodes with more below them first, then by name; neighbours by the sizes known when they were connected, which follows the
 * order of a Java hash map. Kafka Streams: `InternalTopologyBuilder.describeSubtopology`.
 */
function ordered(nodes: readonly GraphNode[]): readonly OrderedNode[] {
  const sources = nodes.filter(node => node.source !== undefined)
  const names = [...new Set([...sources, ...nodes].map(node => node.name))]
  const byName = new Map(
    nodes.map((node): [string, OrderedNode] => [node.name, { node, size: 1, successors: [], predecessors: [] }]),
  )
  for (const name of hashOrder(names)) {
    const at = byName.get(name)
    for (const { name: parentName } of at?.node.parents ?? []) {
      const parent = byName.get(parentName)
      if (at === undefined || parent === undefined) continue
      insert(at.predecessors, parent)
      insert(parent.successors, at)
      grow(parent, at.size)
    }
  }
  return [...byName.values()].toSorted(compare)
}

function grow(node: OrderedNode, by: number): void {
  node.size += by
  for (const predecessor of node.predecessors) grow(predecessor, by)
}

function insert(into: OrderedNode[], node: OrderedNode): void {
  const at = into.findIndex(other => compare(node, other) < 0)
  into.splice(at === -1 ? into.length : at, 0, node)
}

function compare(a: OrderedNode, b: OrderedNode): number {
  if (a.size !== b.size) return b.size - a.size
  return a.node.name < b.node.name ? -1 : 1
}
