import type { AnySerde } from '../serdes/serde.ts'
import type { Graph } from './graph.ts'
import type { GraphNode } from './graph-node.ts'
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
  return { id, nodes: inJavaOrder(nodes).map(describeNode) }
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
  const title = `  Sub-topology: ${String(id)}${isGlobal ? ' for global store (will not generate tasks)' : ''}\n`
  return `${title}${inJavaOrder(nodes).map(textOfNode).join('')}\n`
}

function textOfNode(node: GraphNode): string {
  const successors = node.kind === 'sink' ? '' : `      --> ${namesOf(node.children)}\n`
  const predecessors = node.kind === 'source' ? '' : `      <-- ${namesOf(node.parents)}\n`
  return `    ${headOf(node)}\n${successors}${predecessors}`
}

function headOf(node: GraphNode): string {
  switch (node.kind) {
    case 'source':
      return `Source: ${node.name} (topics: [${(node.source?.topics ?? []).join(', ')}])`
    case 'processor':
      return `Processor: ${node.name} (stores: [${[...node.stores].toSorted().join(', ')}])`
    case 'sink':
      return node.sink?.topic === undefined
        ? `Sink: ${node.name} (extractor class: <user code>)`
        : `Sink: ${node.name} (topic: ${node.sink.topic})`
  }
}

function namesOf(nodes: readonly GraphNode[]): string {
  return nodes.length === 0
    ? 'none'
    : nodes
        .map(node => node.name)
        .toSorted()
        .join(', ')
}

/** Nodes with more below them first, then by name. */
function inJavaOrder(nodes: readonly GraphNode[]): readonly GraphNode[] {
  const sizes = new Map<GraphNode, number>()
  // Parents come before their children, so every node's size is complete before it is added to its parents'.
  for (const node of nodes.toReversed()) {
    sizes.set(
      node,
      node.children.reduce((size, child) => size + (sizes.get(child) ?? 0), 1),
    )
  }
  return nodes.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0) || (a.name < b.name ? -1 : 1))
}
