import { problemsOf } from '../config/problems.ts'
import { ERRORS } from '../model/error-table.ts'
import { asMillraceError, reasonOf, type MillraceError, type MillraceErrorDetails } from '../model/errors.ts'

/** An error as one block for a person: what, where, why, what to do. */
export function errorBlock(thrown: unknown): string {
  const error = asMillraceError(thrown)
  const { details } = error
  // Mistakes of a configuration come with their places, marks and hints, and count themselves.
  if (problemsOf(error) !== undefined && details.what !== undefined) return details.what
  const what = details.what ?? ERRORS[error.code].cause
  const lines = [
    `error: ${what.trim()}`,
    ...row('where', placeOf(details)),
    ...row('why', reasonsOf(error, what)),
    ...row('what to do', error.action),
    ...row('code', error.code),
  ]
  return lines.join('\n')
}

const LABEL_WIDTH = 12

function row(label: string, text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return []
  return [`  ${label.padEnd(LABEL_WIDTH)}${text.replaceAll('\n', `\n  ${' '.repeat(LABEL_WIDTH)}`)}`]
}

function placeOf(details: MillraceErrorDetails): string {
  const { position, task, node, topic, partition, offset } = details
  return [
    position,
    task === undefined ? undefined : `task ${task}`,
    node === undefined ? undefined : `step ${node}`,
    topic === undefined ? undefined : `topic ${topic}`,
    partition === undefined ? undefined : `partition ${String(partition)}`,
    offset === undefined ? undefined : `offset ${String(offset)}`,
  ]
    .filter(part => part !== undefined)
    .join(', ')
}

const CAUSES_MAX = 5

/** The chain of causes, without those that only repeat what was said. */
function reasonsOf(error: MillraceError, said: string): string {
  const reasons: string[] = []
  const oneLine = reasonOf(said)
  let cause: unknown = error.details.cause
  while (cause !== undefined && cause !== null && reasons.length < CAUSES_MAX) {
    const reason = reasonOf(cause)
    if (reason !== '' && !oneLine.includes(reason) && !reasons.includes(reason)) reasons.push(reason)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return reasons.join('\nbecause: ')
}
