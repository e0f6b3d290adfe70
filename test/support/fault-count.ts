import { expect } from 'chai'
import { appendFileSync } from 'node:fs'

/** Number of a fault in docs/reliability.md. */
export type FaultId = `F${number}`

/** A line of the record that `MILLRACE_FAULT_RECORD` names. */
export interface FaultCount {
  readonly fault: FaultId
  readonly what: string
  readonly times: number
}

/**
 * Says how often the fault that a test is about really happened. A run in which it did not proves nothing: the test is
 * red. Where `MILLRACE_FAULT_RECORD` names a file the count is appended to it, for the table of `npm run chaos`.
 *
 * @param what - what was counted, such as `kills at the crash point`
 */
export function faultFired(fault: FaultId, times: number, what: string): void {
  expect(times, `${fault} is void: ${what}`).to.be.greaterThan(0)
  const file = process.env['MILLRACE_FAULT_RECORD']
  if (file === undefined) return
  const count: FaultCount = { fault, what, times }
  appendFileSync(file, `${JSON.stringify(count)}\n`)
}
