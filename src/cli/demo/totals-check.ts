import type { PlannedOrder, PlannedTransaction } from './order-plan.ts'
import { orderIdOf } from './order-plan.ts'

/** A total as the application writes it. */
export interface Total {
  readonly orders: number
  readonly cents: number
}

/** A record as a reader finds it. */
export interface FoundRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
}

/** What a comparison found; all zero when everything is there exactly once. */
export interface Findings {
  readonly duplicates: number
  readonly lost: number
  readonly wrong: number
  /** The first of them, each in one sentence. */
  readonly examples: readonly string[]
}

const EXAMPLES_MAX = 10

class FindingsList implements Findings {
  duplicates = 0
  lost = 0
  wrong = 0
  readonly examples: string[] = []

  add(kind: 'duplicates' | 'lost' | 'wrong', example: string): void {
    this[kind] += 1
    if (this.examples.length < EXAMPLES_MAX) this.examples.push(example)
  }
}

/** The orders that must be counted, by customer. */
export function countedOrders(plan: readonly PlannedTransaction[]): ReadonlyMap<string, readonly PlannedOrder[]> {
  const byCustomer = new Map<string, PlannedOrder[]>()
  for (const order of committedOrders(plan)) {
    if (order.status !== 'paid' || order.poison !== undefined) continue
    const list = byCustomer.get(order.customer)
    if (list === undefined) byCustomer.set(order.customer, [order])
    else list.push(order)
  }
  return byCustomer
}

/** The orders that must end as dead letters. */
export function poisonedOrders(plan: readonly PlannedTransaction[]): readonly PlannedOrder[] {
  return committedOrders(plan).filter(({ poison }) => poison !== undefined)
}

/** All orders of committed transactions. */
export function committedOrders(plan: readonly PlannedTransaction[]): readonly PlannedOrder[] {
  return plan.flatMap(({ aborted, orders }) => (aborted ? [] : orders))
}

/**
 * Checks every value of every customer in the order in which it was written: each must be the one before plus exactly
 * one order of that customer, each order once. Which order comes when is free, because orders of one customer reach the
 * counting step through several partitions; how much each adds is not.
 */
export function checkTotals(
  expected: ReadonlyMap<string, readonly PlannedOrder[]>,
  outputs: readonly FoundRecord[],
): Findings {
  const findings = new FindingsList()
  const seen = new Map<string, CustomerProgress>()
  for (const { key, value } of outputs) {
    const customer = key?.toString('utf8') ?? '(no key)'
    const total = parseTotal(value)
    const orders = expected.get(customer)
    if (total === undefined || orders === undefined) {
      findings.add('wrong', `${customer}: ${value?.toString('utf8') ?? 'null'} is no total of a known customer`)
      continue
    }
    let progress = seen.get(customer)
    if (progress === undefined) {
      progress = new CustomerProgress(customer, orders)
      seen.set(customer, progress)
    }
    progress.take(total, findings)
  }
  for (const [customer, orders] of expected) {
    const progress = seen.get(customer) ?? new CustomerProgress(customer, orders)
    for (const id of progress.missing()) findings.add('lost', `${customer}: order ${id} was never added`)
  }
  return findings
}

/** How far the totals of one customer have come. */
class CustomerProgress {
  readonly #customer: string
  /** Orders not yet added, by their cents. */
  readonly #open: Map<number, string>
  readonly #added = new Set<number>()
  #last: Total = { orders: 0, cents: 0 }

  constructor(customer: string, orders: readonly PlannedOrder[]) {
    this.#customer = customer
    this.#open = new Map(orders.map(({ cents, id }) => [cents, id]))
  }

  take(total: Total, findings: FindingsList): void {
    const added = total.cents - this.#last.cents
    const from = `${this.#customer}: ${textOf(this.#last)} → ${textOf(total)}`
    if (total.orders === this.#last.orders + 1 && this.#open.delete(added)) {
      this.#added.add(added)
    } else if (total.orders <= this.#last.orders) {
      findings.add('duplicates', `${from} goes back: written a second time`)
    } else if (this.#added.has(added)) {
      findings.add('duplicates', `${from} adds an order a second time`)
    } else {
      findings.add('wrong', `${from} adds no order of this customer`)
    }
    this.#last = total
  }

  missing(): readonly string[] {
    return [...this.#open.values()]
  }
}

/** Checks that each poisoned order is a dead letter exactly once, and nothing else is. */
export function checkDeadLetters(poisoned: readonly PlannedOrder[], letters: readonly FoundRecord[]): Findings {
  const findings = new FindingsList()
  const open = new Set(poisoned.map(({ id }) => id))
  const expected = new Set(open)
  for (const { key, value } of letters) {
    const id = orderIdOf(key, value) ?? '(no order)'
    if (open.delete(id)) continue
    if (expected.has(id)) findings.add('duplicates', `dead letter ${id} was written a second time`)
    else findings.add('wrong', `dead letter ${id} is of a good order`)
  }
  for (const id of open) findings.add('lost', `poisoned order ${id} has no dead letter`)
  return findings
}

/** Checks that the newest value per customer in the changelog, which is what a restore would load, is the right total. */
export function checkChangelog(
  expected: ReadonlyMap<string, readonly PlannedOrder[]>,
  changelog: readonly FoundRecord[],
): Findings {
  const findings = new FindingsList()
  const newest = new Map(changelog.map(({ key, value }) => [key?.toString('utf8') ?? '', parseTotal(value)]))
  for (const [customer, orders] of expected) {
    const right: Total = { orders: orders.length, cents: orders.reduce((sum, { cents }) => sum + cents, 0) }
    const stored = newest.get(customer)
    if (stored?.orders !== right.orders || stored.cents !== right.cents) {
      findings.add(
        'wrong',
        `changelog of ${customer}: ${stored === undefined ? 'nothing' : textOf(stored)} in place of ${textOf(right)}`,
      )
    }
  }
  for (const customer of newest.keys()) {
    if (!expected.has(customer)) findings.add('wrong', `changelog has the unknown customer ${customer}`)
  }
  return findings
}

/** Adds findings up. */
export function allFindings(list: readonly Findings[]): Findings {
  return {
    duplicates: list.reduce((sum, { duplicates }) => sum + duplicates, 0),
    lost: list.reduce((sum, { lost }) => sum + lost, 0),
    wrong: list.reduce((sum, { wrong }) => sum + wrong, 0),
    examples: list.flatMap(({ examples }) => examples).slice(0, EXAMPLES_MAX),
  }
}

function parseTotal(value: Buffer | null): Total | undefined {
  if (value === null) return undefined
  const match = /^\{"orders":(\d+),"cents":(\d+)\}$/.exec(value.toString('utf8'))
  return match === null ? undefined : { orders: Number(match[1]), cents: Number(match[2]) }
}

function textOf({ orders, cents }: Total): string {
  return `${String(orders)} orders, ${String(cents)} cents`
}
