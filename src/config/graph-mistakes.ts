import { MillraceError } from '../model/errors.ts'
import type { GraphConfig } from './application-config.ts'
import type { ProblemList } from './problems.ts'
import type { Place } from './source-file.ts'

/** Notes the mistakes that the topology found, each at the place it was written. */
export function noteMistakes(error: unknown, graph: GraphConfig, problems: ProblemList): void {
  const namesReported = problems.has('NAME_TAKEN')
  for (const mistake of mistakesOf(error)) {
    // The graph finds the same name taken again, but not where.
    if (mistake.code === 'NAME_TAKEN' && namesReported) continue
    problems.add(placeOf(mistake, graph), withoutPlace(mistake), actionOf(mistake), mistake.code)
  }
}

/** The mistakes the topology found, one by one. */
function mistakesOf(error: unknown): readonly MillraceError[] {
  if (!(error instanceof MillraceError)) throw error
  const { cause } = error.details
  if (!(cause instanceof AggregateError)) return [error]
  return cause.errors.filter(inner => inner instanceof MillraceError)
}

/** Where the node of a mistake was written: nodes are named after sources, steps and sinks. */
function placeOf({ details: { node } }: MillraceError, graph: GraphConfig): Place | undefined {
  if (node === undefined) return undefined
  const entries = [...graph.sources.values(), ...graph.steps.values(), ...graph.sinks.values()]
  const exact = entries.find(entry => entry.name === node)
  const near = entries.filter(entry => node.startsWith(`${entry.name}-`) || node.startsWith(`${entry.name}.`))
  return (exact ?? near.toSorted((a, b) => b.name.length - a.name.length)[0])?.place
}

/** The remedies of the topology are written for TypeScript; where YAML has another word, that one is named. */
function actionOf({ code, action }: MillraceError): string {
  return code === 'SERDE_MISSING'
    ? 'name it at the step that computes it, serdes: { key: …, value: … }, or at the sink'
    : action
}

function withoutPlace(mistake: MillraceError): string {
  const what = mistake.details.what ?? mistake.message
  return what.replace(/\.$/, '')
}
