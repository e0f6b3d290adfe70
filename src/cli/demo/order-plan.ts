import type { Random } from '../../model/clock.ts'
import { integerBetween } from './seeded-random.ts'

/** Why a record cannot be processed, if it cannot. */
export type Poison = 'brokenJson' | 'noCustomer' | 'centsAreText' | 'noValue'

/** One record of the input topic. */
export interface PlannedOrder {
  /** Unique over the whole run. */
  readonly id: string
  /** Repeats: a shop has many orders. */
  readonly shop: string
  readonly customer: string
  readonly status: 'paid' | 'cancelled'
  /** Unique per customer, so that a difference between two totals names the order that made it. */
  readonly cents: number
  readonly poison: Poison | undefined
}

/** One transaction of the producer. */
export interface PlannedTransaction {
  readonly orders: readonly PlannedOrder[]
  /** Its records must never count. */
  readonly aborted: boolean
}

/** How much is planned. */
export interface OrderPlanOptions {
  readonly random: Random
  /** Records in committed transactions; those of aborted ones come on top. */
  readonly records: number
}

const CUSTOMERS = 60
const SHOPS = 25
const TRANSACTION_RECORDS_MAX = 100
const ABORTED_SHARE = 0.15
const PAID_SHARE = 0.8
const POISON_SHARE = 0.004
const CENTS_MAX = 9_999_999
const POISONS: readonly Poison[] = ['brokenJson', 'noCustomer', 'centsAreText', 'noValue']

/** Plans the whole input: the same seed gives the same plan. */
export function planOrders({ random, records }: OrderPlanOptions): readonly PlannedTransaction[] {
  const plan: PlannedTransaction[] = []
  const usedCents = new Map<string, Set<number>>()
  let number = 0
  let poisons = 0
  let committed = 0
  const order = (): PlannedOrder => {
    number += 1
    const isPoison = random() < POISON_SHARE
    const customer = `customer-${String(integerBetween(random, 1, CUSTOMERS)).padStart(2, '0')}`
    const poison = isPoison ? POISONS[poisons % POISONS.length] : undefined
    if (isPoison) poisons += 1
    return {
      id: `o${String(number)}`,
      shop: `shop-${String(integerBetween(random, 1, SHOPS))}`,
      customer,
      // Text for cents is found out only where the order is added up, and cancelled orders never come there.
      status: isPoison || random() < PAID_SHARE ? 'paid' : 'cancelled',
      cents: unusedCents(random, customer, usedCents),
      poison,
    }
  }
  while (committed < records) {
    const aborted = random() < ABORTED_SHARE
    const wanted = integerBetween(random, 1, TRANSACTION_RECORDS_MAX)
    const size = aborted ? wanted : Math.min(wanted, records - committed)
    plan.push({ aborted, orders: Array.from({ length: size }, order) })
    if (!aborted) committed += size
  }
  return plan
}

function unusedCents(random: Random, customer: string, used: Map<string, Set<number>>): number {
  let taken = used.get(customer)
  if (taken === undefined) {
    taken = new Set()
    used.set(customer, taken)
  }
  let cents = integerBetween(random, 1, CENTS_MAX)
  while (taken.has(cents)) cents = integerBetween(random, 1, CENTS_MAX)
  taken.add(cents)
  return cents
}

/** Key and value of a planned order as they go into the topic. */
export function orderBytes(order: PlannedOrder): { readonly key: Buffer; readonly value: Buffer | null } {
  const { id, shop, customer, status, cents, poison } = order
  // A record without a value can be told from others by its key alone.
  if (poison === 'noValue') return { key: Buffer.from(id), value: null }
  const text = JSON.stringify({
    id,
    status,
    ...(poison === 'noCustomer' ? {} : { customerId: customer }),
    cents: poison === 'centsAreText' ? 'many' : cents,
  })
  return { key: Buffer.from(shop), value: Buffer.from(poison === 'brokenJson' ? text.slice(0, -1) : text) }
}

/** The id of the order that a dead letter came from, read from its bytes alone; `undefined` when there is none. */
export function orderIdOf(key: Uint8Array | null, value: Uint8Array | null): string | undefined {
  if (value === null) return key === null ? undefined : Buffer.from(key).toString('utf8')
  return /"id":"(o\d+)"/.exec(Buffer.from(value).toString('utf8'))?.[1]
}
