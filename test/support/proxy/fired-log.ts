import { appendFileSync } from 'node:fs'
import type { Exchange } from './exchange.ts'

/** One thing that a rule did. */
export interface FiredEntry {
  /** Milliseconds since 1970, by the wall clock. */
  readonly at: number
  /** Name of the rule, where it was given one. */
  readonly rule: string | undefined
  readonly api: string
  readonly version: number
  readonly direction: 'request' | 'response'
  readonly actions: readonly string[]
  readonly nodeId: number | undefined
  readonly clientId: string | null
  readonly transactionalId: string | undefined
}

/** What a rule did to an exchange, as an entry. */
export function firedEntry(
  exchange: Exchange,
  rule: { readonly name?: string; readonly direction: FiredEntry['direction'] },
  actions: readonly string[],
): FiredEntry {
  const { api, version, nodeId, clientId, transactionalId } = exchange
  const { name, direction } = rule
  return { at: Date.now(), rule: name, api, version, direction, actions, nodeId, clientId, transactionalId }
}

/** Appends entries to a file, one JSON object a line, at once: a crash of the test loses none. */
export function firedLog(file: string): (entry: object) => void {
  return entry => appendFileSync(file, `${JSON.stringify(entry)}\n`)
}
