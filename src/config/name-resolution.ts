import { nearestName } from '../model/nearest-name.ts'
import type { GraphConfig, StepConfig } from './application-config.ts'
import type { ScalarNode } from './config-node.ts'
import type { ProblemList } from './problems.ts'

/** Names listed beside one that is unknown; more would hide the mistake. */
const NAMES_SHOWN = 8

const NAME_FORM = /^[A-Za-z][A-Za-z0-9_-]*$/

/** Notes names that are none, and names used twice: sources, steps and sinks share one name space. */
export function checkNames(graph: GraphConfig, problems: ProblemList): void {
  const seen = new Map<string, string>()
  for (const [block, entries] of Object.entries({ source: graph.sources, step: graph.steps, sink: graph.sinks })) {
    for (const [name, { place }] of entries) {
      if (!NAME_FORM.test(name)) {
        problems.add(
          place,
          `"${name}" is no name of a ${block}`,
          'letters, digits, "_" and "-", beginning with a letter',
        )
      }
      const other = seen.get(name)
      if (other !== undefined)
        problems.add(
          place,
          `the name "${name}" is used by a ${other} and a ${block}`,
          'give one of them another name',
          'NAME_TAKEN',
        )
      seen.set(name, block)
    }
  }
}

/** What a step reads: its `from` and the table of its join. */
export function referencesOf(step: StepConfig): readonly ScalarNode[] {
  return step.operator.kind === 'join' ? [...step.from, step.operator.with] : step.from
}

/** The source or step a reference names; a branch is written `step.branch`. */
export function targetOf(reference: ScalarNode): { readonly name: string; readonly branch: string | undefined } {
  const [name, branch] = reference.text.split('.', 2)
  return { name: name ?? reference.text, branch }
}

/** The steps in an order in which each comes after those it reads; circles and unknown names are noted. */
export function orderSteps(graph: GraphConfig, problems: ProblemList): readonly StepConfig[] {
  const ordered: StepConfig[] = []
  const states = new Map<string, 'open' | 'done'>()
  const circles = new Set<string>()
  const visit = (step: StepConfig, above: readonly string[]): void => {
    const path = [...above, step.name]
    states.set(step.name, 'open')
    for (const reference of referencesOf(step)) {
      const { name } = targetOf(reference)
      // A name of both is a mistake by itself, and no circle.
      const next = graph.sources.has(name) ? undefined : graph.steps.get(name)
      if (next === undefined) checkReference(reference, graph, problems)
      else if (states.get(name) === 'open') {
        const circle = [...path.slice(path.indexOf(name)), name].join(' ← ')
        // Read twice by one step, it is still one circle.
        if (circles.has(circle)) continue
        circles.add(circle)
        problems.add(
          reference.place,
          `steps read each other in a circle: ${circle}`,
          'let one of them read a source; a loop goes through a topic, a sink and a source of it',
        )
      } else if (states.get(name) === undefined) visit(next, path)
    }
    states.set(step.name, 'done')
    ordered.push(step)
  }
  for (const step of graph.steps.values()) if (!states.has(step.name)) visit(step, [])
  for (const sink of graph.sinks.values())
    if (!graph.steps.has(targetOf(sink.from).name)) checkReference(sink.from, graph, problems)
  return ordered
}

/** Warns about sources and steps that nobody reads. */
export function warnUnused(graph: GraphConfig, problems: ProblemList): void {
  const used = new Set(
    [...[...graph.steps.values()].flatMap(referencesOf), ...[...graph.sinks.values()].map(sink => sink.from)].map(
      reference => targetOf(reference).name,
    ),
  )
  for (const { name, place } of graph.sources.values())
    if (!used.has(name)) problems.warn(place, `source "${name}" is read by nobody`)
  for (const { name, place, operator } of graph.steps.values()) {
    const endsThere = operator.kind === 'peek' || operator.kind === 'process' || operator.kind === 'processValues'
    if (!used.has(name) && !endsThere)
      problems.warn(place, `step "${name}" is read by nobody`, 'its result goes nowhere')
  }
}

function checkReference(reference: ScalarNode, graph: GraphConfig, problems: ProblemList): void {
  const { name } = targetOf(reference)
  const isSink = graph.sinks.has(name)
  if (!isSink && graph.declared.has(name)) return
  const readable = [...graph.declared].filter(known => !graph.sinks.has(known))
  problems.add(
    reference.place,
    isSink ? `"${name}" is a sink, it cannot be read` : `there is no source or step "${name}"`,
    isSink ? 'read what the sink writes, the name in its `from`' : readableHint(name, readable),
    'NAME_UNKNOWN',
  )
}

function readableHint(name: string, readable: readonly string[]): string {
  const nearest = nearestName(name, readable)
  if (nearest !== undefined) return `did you mean "${nearest}"?`
  const shown = readable.slice(0, NAMES_SHOWN).join(', ')
  return readable.length > NAMES_SHOWN ? `there are ${shown}, …` : `there are ${shown}`
}
