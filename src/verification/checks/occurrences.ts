import type { RunObservation } from '../run-observation.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/** A run in which the faults did not happen is void: it proves nothing, whatever else was found. */
export function checkOccurrences({ occurrences }: RunObservation): CheckReport {
  const book = new CheckBook('occurrences')
  if (occurrences === undefined) {
    book.notChecked('nothing was asked to have happened')
    return book.report()
  }
  for (const [name, least] of Object.entries(occurrences.required)) {
    const seen = occurrences.seen[name] ?? 0
    book.compared()
    if (seen < least)
      book.unjudged(`void: ${name} happened ${String(seen)} times, and had to at least ${String(least)} times`)
  }
  return book.report()
}
