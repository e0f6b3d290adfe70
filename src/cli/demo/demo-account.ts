import type { Kill } from './kill-series.ts'
import type { PlannedOrder } from './order-plan.ts'
import type { Findings } from './totals-check.ts'

/** The last line of standard output. */
export interface DemoVerdict {
  readonly verdict: 'exactly-once' | 'violated'
  /** Records in committed transactions of the input. */
  readonly records: number
  /** Totals that a read_committed reader sees. */
  readonly outputs: number
  readonly duplicates: number
  readonly lost: number
  readonly wrong: number
  readonly deadLetters: number
  readonly kills: number
  readonly killsInTransaction: number
  /** The application's own, by the abort markers in its topics. */
  readonly abortedTransactions: number
  readonly seconds: number
}

/** One line about a kill. */
export function killLine(
  { atMs, recoveredMs, transactions, inTransaction }: Kill,
  number: number,
  beganMs: number,
): string {
  const at = `${((atMs - beganMs) / 1_000).toFixed(1).padStart(5)} s`
  const recovered =
    recoveredMs === undefined
      ? 'while it was starting'
      : `back at work ${(recoveredMs / 1_000).toFixed(1)} s after its start`
  const open = transactions.filter(({ state }) => state === 'Ongoing').flatMap(({ partitions }) => partitions)
  const phase = inTransaction
    ? `in an open transaction (${String(open.length)} ${open.length === 1 ? 'partition' : 'partitions'})`
    : `${transactions.length === 0 ? 'no transaction' : 'between transactions'}${transactions.length === 0 ? '' : ` (${[...new Set(transactions.map(({ state }) => state))].join(', ')})`}`
  return `  ${at}  kill -9 no. ${String(number).padStart(2)}  ${phase.padEnd(42)}  ${recovered}`
}

const TABLE_ROWS_MAX = 8

/** Totals of the customers with the most cents. */
export function totalsTable(expected: ReadonlyMap<string, readonly PlannedOrder[]>): string {
  const rows = [...expected]
    .map(([customer, orders]) => ({
      customer,
      orders: orders.length,
      cents: orders.reduce((sum, { cents }) => sum + cents, 0),
    }))
    .toSorted((a, b) => b.cents - a.cents)
  const shown = rows.slice(0, TABLE_ROWS_MAX)
  const lines = shown.map(
    ({ customer, orders, cents }) =>
      `  ${customer.padEnd(14)}${String(orders).padStart(8)}${money(cents).padStart(20)}`,
  )
  return [
    `  ${'customer'.padEnd(14)}${'orders'.padStart(8)}${'amount'.padStart(20)}`,
    ...lines,
    `  … and ${String(rows.length - shown.length)} more`,
  ].join('\n')
}

/** What is wrong, or that nothing is. */
export function findingsText({ duplicates, lost, wrong, examples }: Findings, troubles: readonly string[]): string {
  const lines = [...troubles, ...examples].map(line => `  ${line}`)
  const sum = `duplicates ${String(duplicates)}, lost ${String(lost)}, wrong ${String(wrong)}`
  return lines.length === 0 ? `  ${sum}` : [`  ${sum}; among them:`, ...lines].join('\n')
}

function money(cents: number): string {
  const whole = Math.floor(cents / 100)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, ' ')
  return `${whole}.${String(cents % 100).padStart(2, '0')}`
}
