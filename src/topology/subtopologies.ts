import type { Graph } from './graph.ts'
import type { GraphNode } from './graph-node.ts'

/** Nodes that belong together because records or stores connect them. */
export interface NodeGroup {
  readonly id: number
  readonly nodes: readonly GraphNode[]
  /** It only fills a global table and is never scheduled. */
  readonly isGlobal: boolean
}

/** Parts the graph falls into, numbered as the JVM does: in the order of their first sources. Kafka Streams: `InternalTopologyBuilder.makeNodeGroups`. */
export function groupNodes(graph: Graph): readonly NodeGroup[] {
  const roots = new Map<GraphNode, GraphNode>()
  const rootOf = (node: GraphNode): GraphNode => {
    let root = node
    for (let up = roots.get(root); up !== undefined && up !== root; up = roots.get(root)) root = up
    return root
  }
  const unite = (a: GraphNode, b: GraphNode): void => {
    roots.set(rootOf(a), rootOf(b))
  }
  const users = new Map<string, GraphNode>()
  for (const node of graph.nodes) {
    for (const parent of node.parents) unite(node, parent)
    for (const store of node.stores) {
      const user = users.get(store)
      if (user === undefined) users.set(store, node)
      else unite(node, user)
    }
  }
  const ordered = [...graph.nodes.filter(node => node.source !== undefined), ...graph.nodes]
  const members = new Map<GraphNode, GraphNode[]>()
  for (const node of ordered) if (!members.has(rootOf(node))) members.set(rootOf(node), [])
  for (const node of graph.nodes) members.get(rootOf(node))?.push(node)
  return [...members.values()].map((nodes, id) => ({
    id,
    nodes,
    isGlobal: nodes.some(node => node.source?.role === 'globalTable'),
  }))
}
