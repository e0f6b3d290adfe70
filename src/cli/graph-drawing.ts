import type { ApplicationPlan, StorePlan, SubtopologyPlan } from '../topology/plan.ts'
import type { NodeDescription, SubtopologyDescription } from '../topology/topology-description.ts'

/** How a graph is drawn. */
export type GraphFormat = 'text' | 'mermaid' | 'dot' | 'describe'

/** Draws an application. */
export function drawGraph(plan: ApplicationPlan, guarantee: string, format: GraphFormat): string {
  switch (format) {
    case 'text':
      return textGraph(plan, guarantee)
    case 'mermaid':
      return mermaidGraph(plan)
    case 'dot':
      return dotGraph(plan)
    case 'describe':
      return plan.describe().toString()
  }
}

function textGraph(plan: ApplicationPlan, guarantee: string): string {
  const parts = plan.describe().subtopologies.map(description => {
    const subtopology = plan.subtopologies.find(({ id }) => id === description.id)
    return [`subtopology ${String(description.id)}`, ...factsOf(subtopology), ...treeOf(description)].join('\n')
  })
  return [`application ${plan.applicationId} (${guarantee})`, ...parts].join('\n\n')
}

function factsOf(subtopology: SubtopologyPlan | undefined): readonly string[] {
  if (subtopology === undefined) return []
  const { sources, sinkTopics, repartitionTopics, stores } = subtopology
  const facts: readonly (readonly [string, readonly string[]])[] = [
    ['reads', sources.flatMap(({ topics }) => topics)],
    ['writes', [...sinkTopics, ...repartitionTopics.map(({ topic }) => topic)]],
    ['stores', stores.map(storeText)],
  ]
  return facts.flatMap(([label, list]) => (list.length === 0 ? [] : [`  ${label.padEnd(8)}${list.join(', ')}`]))
}

/** A node with several parents is drawn below the first one, and named below the others. */
function treeOf({ nodes }: SubtopologyDescription): readonly string[] {
  const byName = new Map(nodes.map(node => [node.name, node]))
  const drawn = new Set<string>()
  const lines: string[] = []
  const draw = (node: NodeDescription, lead: string, below: string): void => {
    if (drawn.has(node.name)) {
      lines.push(`${lead}${node.name} (above)`)
      return
    }
    drawn.add(node.name)
    lines.push(`${lead}${labelOf(node)}`)
    const children = node.successors.flatMap(name => byName.get(name) ?? [])
    for (const [index, child] of children.entries()) {
      const last = index === children.length - 1
      draw(child, `${below}${last ? '└─ ' : '├─ '}`, `${below}${last ? '   ' : '│  '}`)
    }
  }
  for (const node of nodes) if (node.kind === 'source') draw(node, '  ', '  ')
  return lines
}

/** A store with its changelog and, of windows, how long it keeps them. */
function storeText({ name, changelogTopic, definition: { retentionMs, windows } }: StorePlan): string {
  const facts = [`changelog ${changelogTopic ?? 'none'}`]
  if (windows !== undefined) facts.push(windows)
  if (retentionMs !== undefined)
    facts.push(`kept ${Number.isFinite(retentionMs) ? `${String(retentionMs)} ms` : 'for ever'}`)
  return `${name} (${facts.join(', ')})`
}

function labelOf({ name, kind, topics, stores, serdes }: NodeDescription): string {
  const topic = topics.length === 0 ? '' : `${kind === 'source' ? ' ← ' : ' → '}${topics.join(', ')}`
  const store = stores.length === 0 ? '' : ` [${stores.join(', ')}]`
  return `${name}${topic}${store}${serdesText(serdes)}`
}

function serdesText({ key, value }: NodeDescription['serdes']): string {
  return key === undefined && value === undefined ? '' : `  key: ${key ?? '?'}, value: ${value ?? '?'}`
}

function mermaidGraph(plan: ApplicationPlan): string {
  const lines = ['flowchart LR']
  const ids = new Ids()
  for (const { id, nodes } of plan.describe().subtopologies) {
    lines.push(`  subgraph s${String(id)}["subtopology ${String(id)}"]`)
    for (const node of nodes) {
      const stores = node.stores.length === 0 ? '' : `<br/>${node.stores.join(', ')}`
      lines.push(`    ${ids.of(`n${String(id)}`, node.name)}["${mermaidText(node.name)}${mermaidText(stores)}"]`)
    }
    lines.push('  end')
    for (const node of nodes) lines.push(...mermaidEdges(id, node, ids))
  }
  for (const [topic, id] of ids.named('topic')) lines.push(`  ${id}[("${mermaidText(topic)}")]`)
  return lines.join('\n')
}

function mermaidEdges(subtopology: number, node: NodeDescription, ids: Ids): readonly string[] {
  const own = ids.of(`n${String(subtopology)}`, node.name)
  const topics = node.topics.map(topic => ids.of('topic', topic))
  const ends = topics.map(topic => (node.kind === 'source' ? `  ${topic} --> ${own}` : `  ${own} --> ${topic}`))
  return [...ends, ...node.successors.map(name => `  ${own} --> ${ids.of(`n${String(subtopology)}`, name)}`)]
}

function mermaidText(text: string): string {
  return text.replaceAll('"', '#quot;')
}

function dotGraph(plan: ApplicationPlan): string {
  const lines = ['digraph application {', '  rankdir=LR; node [shape=box];']
  const topics = new Set<string>()
  for (const { id, nodes } of plan.describe().subtopologies) {
    const quoted = (name: string): string => dotText(`${String(id)}/${name}`)
    lines.push(`  subgraph cluster_${String(id)} { label="subtopology ${String(id)}";`)
    for (const node of nodes) {
      lines.push(`    ${quoted(node.name)} [label=${dotText([node.name, ...node.stores].join('\n'))}];`)
    }
    lines.push('  }')
    for (const node of nodes) {
      for (const topic of node.topics) {
        topics.add(topic)
        const ends = node.kind === 'source' ? [dotText(topic), quoted(node.name)] : [quoted(node.name), dotText(topic)]
        lines.push(`  ${ends.join(' -> ')};`)
      }
      for (const name of node.successors) lines.push(`  ${quoted(node.name)} -> ${quoted(name)};`)
    }
  }
  for (const topic of topics) lines.push(`  ${dotText(topic)} [shape=cylinder];`)
  return [...lines, '}'].join('\n')
}

function dotText(text: string): string {
  return JSON.stringify(text)
}

/** Short ids for names that a drawing language may not take as they are. */
class Ids {
  readonly #ids = new Map<string, Map<string, string>>()

  of(space: string, name: string): string {
    let ids = this.#ids.get(space)
    if (ids === undefined) {
      ids = new Map()
      this.#ids.set(space, ids)
    }
    let id = ids.get(name)
    if (id === undefined) {
      id = `${space}_${String(ids.size + 1)}`
      ids.set(name, id)
    }
    return id
  }

  named(space: string): Iterable<readonly [name: string, id: string]> {
    return this.#ids.get(space) ?? []
  }
}
