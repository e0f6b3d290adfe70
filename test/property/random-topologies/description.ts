import type { Piped } from './events.ts'
import type { Input, Step } from './plan.ts'
import { textOf, type Header } from './user-functions.ts'

/** A topology and the records of a run, to be read by whoever looks for the cause of a difference. */
export function descriptionOf(steps: readonly Step[], events: readonly Piped[]): string {
  return ['', ...steps.map(step => stepText(step)), ...events.map(event => eventText(event)), ''].join('\n')
}

function stepText({ id, operation, inputs, isWritten }: Step): string {
  const { kind, ...options } = operation
  const from = inputs.map(input => inputText(input)).join(' and ')
  const parts = [`  ${String(id)}: ${kind} of ${from}`]
  if (Object.keys(options).length > 0) parts.push(JSON.stringify(options).replaceAll('"', ''))
  if (isWritten) parts.push(`→ out-${String(id)}`)
  return parts.join(' ')
}

function inputText({ from, shape }: Input): string {
  return `${'source' in from ? from.source : String(from.step)} (${shape.type})`
}

function eventText({ topic, key, value, time, wall, headers, after }: Piped): string {
  const moved = wall === 0 ? '' : `wall clock + ${String(wall)}, `
  return `  ${moved}${topic} ← ${lineOf({ key, value, time, headers })}${after === 'nothing' ? '' : `, ${after}`}`
}

/** A record as a line of text. */
export function lineOf(record: {
  readonly key: unknown
  readonly value: unknown
  readonly time: number
  readonly headers: readonly Header[]
}): string {
  const headers = record.headers.map(([name, value]) => ` ${name}:${JSON.stringify(value)}`).join('')
  return `${textOf(record.key)} = ${textOf(record.value)} @ ${String(record.time)}${headers}`
}
