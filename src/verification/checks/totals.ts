import { counted } from '../../model/counted.ts'
import type { RunObservation } from '../run-observation.ts'
import type { Addition, Total } from '../totals-observation.ts'
import { CheckBook, type CheckReport } from '../verdict.ts'

/**
 * A plain model of a counting workload, which shares nothing with the operators: counts are 1, 2, 3 …, each sum grows by
 * the amount of one record that was not added before, and the ids say which. A lost and a doubled amount cannot cancel.
 *
 * @param isAtRest - while something waits to be processed, what is missing may still come
 */
export function checkTotals({ totals }: RunObservation, isAtRest: boolean): CheckReport {
  const book = new CheckBook('totals')
  if (totals === undefined) {
    book.notChecked('no independent model of the workload was given')
    return book.report()
  }
  let missing = 0
  const found = new Map(totals.found.map(({ key, totals: list }) => [key, list]))
  for (const [key, additions] of totals.expected)
    missing += checkKey(book, key, additions, found.get(key) ?? [], isAtRest)
  for (const key of found.keys()) {
    if (!totals.expected.has(key)) book.found('unexplained', `nothing was to be added for ${key}`)
  }
  if (missing > 0) book.unjudged(`${counted(missing, 'record')} not added yet, and the run has not come to rest`)
  return book.report()
}

const NOTHING: Total = { count: 0n, sum: 0n, xor: 0n }

/** @returns how many records are missing that may still come */
function checkKey(
  book: CheckBook,
  key: string,
  additions: readonly Addition[],
  totals: readonly Total[],
  isAtRest: boolean,
): number {
  const open = new Map(additions.map(({ id, amount }) => [id, amount]))
  const all = new Map(open)
  let before = NOTHING
  for (const total of totals) {
    book.compared()
    const id = total.xor ^ before.xor
    const amount = total.sum - before.sum
    const step = `${key}: ${textOf(before)} → ${textOf(total)}`
    if (total.count !== before.count + 1n) book.found('count', `${step} is not one more`)
    else if (all.get(id) !== amount) book.found('wrong', `${step} adds nothing that was in the input`)
    else if (!open.delete(id)) book.found('duplicate', `${step} adds record ${String(id)} a second time`)
    before = total
  }
  if (!isAtRest) return open.size
  for (const id of open.keys()) book.found('lost', `${key}: record ${String(id)} was never added`)
  return 0
}

function textOf({ count, sum }: Total): string {
  return `${String(count)} records, sum ${String(sum)}`
}
