import { SHAPES } from '../../support/application-shape.ts'
import type { ReadRecord } from '../../support/kafka-reader.ts'
import { compareSequences, type Account } from '../../support/sequence-account.ts'
import { type MillTopics, WITHIN_MS } from './mill-application.ts'

/** All records of all topics, as a read_committed reader sees them. */
export type MillRecords = Readonly<Record<keyof MillTopics, readonly ReadRecord[]>>

/** What one output has to be, compared with what it is. */
export type MillAccounts = Readonly<Record<'ledger' | 'totals' | 'enriched' | 'paid' | 'priced', Account>>

/** Compares every output with what the committed input demands, by a model that shares nothing with the engine. */
export function millAccounts(records: MillRecords): MillAccounts {
  return {
    ledger: compareSequences(ledgersOf(records.orders), sequencesOf(records.ledger, textOf)),
    totals: SHAPES.totals.compare(records.orders, records.totals),
    enriched: enrichedAccount(records),
    paid: paidAccount(records),
    priced: pricedAccount(records),
  }
}

/** What is wrong with an output, in words; empty when nothing is. */
export function complaintsOf(accounts: MillAccounts): readonly string[] {
  return Object.entries(accounts).flatMap(([name, { duplicates, lost, wrong }]) => [
    ...(duplicates > 0 ? [`${name}: ${String(duplicates)} duplicates`] : []),
    ...(lost > 0 ? [`${name}: ${String(lost)} lost`] : []),
    ...wrong.map(what => `${name}: ${what}`),
  ])
}

/** Fields of all topics' values together; each has a few of them. */
interface Value {
  readonly n: number
  readonly account: string
  readonly amount: number
  readonly version: number | null
  readonly product: string
  readonly order: number
  readonly payment: number
}

/** The whole sequence of values that the orders of each key must give, in the order of the input. */
function ledgersOf(orders: readonly ReadRecord[]): Map<string, string[]> {
  const ledgers = new Map<string, { count: number; sum: number; digest: number }>()
  return sequencesOf(orders, record => {
    const { n, amount } = valueOf(record)
    const before = ledgers.get(keyOf(record)) ?? { count: 0, sum: 0, digest: 0 }
    const after = {
      count: before.count + 1,
      sum: before.sum + amount,
      digest: (before.digest * 31 + n) % 1_000_003,
    }
    ledgers.set(keyOf(record), after)
    return JSON.stringify(after)
  })
}

/**
 * Each order once, with a version of its account that exists; which one depends on when the two met, but those of one
 * account never go back.
 */
function enrichedAccount({ orders, accounts, enriched }: MillRecords): Account {
  const known = new Map<string, Set<number | null>>()
  for (const record of accounts) {
    const versions = known.get(keyOf(record)) ?? new Set<number | null>()
    known.set(keyOf(record), versions.add(valueOf(record).version))
  }
  const wanted = setOf(orders, record => `${valueOf(record).account} ${String(valueOf(record).n)}`)
  const account = compareSets(wanted, enriched, record => `${keyOf(record)} ${String(valueOf(record).n)}`)
  const wrong = [...account.wrong]
  const last = new Map<string, number>()
  for (const record of enriched) {
    const { n, version } = valueOf(record)
    const key = keyOf(record)
    const before = last.get(key) ?? -1
    if (version !== null && known.get(key)?.has(version) !== true) {
      wrong.push(`order ${String(n)} has version ${String(version)} of ${key}, which was never committed`)
    }
    if ((version ?? -1) < before) {
      wrong.push(`order ${String(n)} has version ${String(version)} of ${key} after ${String(before)}`)
    }
    last.set(key, Math.max(before, version ?? -1))
  }
  return { ...account, wrong: wrong.slice(0, WRONG_MAX) }
}

/** All pairs of an order and a payment of one key within the time, each exactly once. */
function paidAccount({ orders, payments, paid }: MillRecords): Account {
  const byKey = new Map<string, { n: number; timestamp: number }[]>()
  for (const record of payments) {
    const one = { n: valueOf(record).n, timestamp: record.timestamp }
    byKey.set(keyOf(record), [...(byKey.get(keyOf(record)) ?? []), one])
  }
  const wanted = new Set<string>()
  for (const record of orders) {
    for (const payment of byKey.get(keyOf(record)) ?? []) {
      if (Math.abs(payment.timestamp - record.timestamp) > WITHIN_MS) continue
      wanted.add(`${keyOf(record)} ${String(valueOf(record).n)} ${String(payment.n)}`)
    }
  }
  return compareSets(wanted, paid, record => {
    const { order, payment } = valueOf(record)
    return `${keyOf(record)} ${String(order)} ${String(payment)}`
  })
}

/** The last result of every line is its last value beside the last value of its product. */
function pricedAccount({ lines, products, priced }: MillRecords): Account {
  const product = new Map(products.map(record => [keyOf(record), valueOf(record).n] as const))
  const wanted = new Map<string, string>()
  for (const record of lines) {
    const { n, product: foreign } = valueOf(record)
    const right = product.get(foreign)
    if (right === undefined) wanted.delete(keyOf(record))
    else wanted.set(keyOf(record), JSON.stringify({ line: n, product: right }))
  }
  const actual = new Map<string, string>()
  for (const record of priced) {
    if (record.value === null) actual.delete(keyOf(record))
    else actual.set(keyOf(record), textOf(record))
  }
  const wrong: string[] = []
  let lost = 0
  for (const [key, value] of wanted) {
    const is = actual.get(key)
    if (is === undefined) lost += 1
    else if (is !== value) wrong.push(`${key} is ${is}, not ${value}`)
  }
  for (const key of actual.keys()) if (!wanted.has(key)) wrong.push(`${key} has no partner`)
  return { records: wanted.size, outputs: actual.size, duplicates: 0, lost, wrong: wrong.slice(0, WRONG_MAX) }
}

const WRONG_MAX = 10

function compareSets(
  wanted: ReadonlySet<string>,
  records: readonly ReadRecord[],
  elementOf: (record: ReadRecord) => string,
): Account {
  const seen = new Set<string>()
  const wrong: string[] = []
  let duplicates = 0
  for (const record of records) {
    const element = elementOf(record)
    if (!wanted.has(element)) wrong.push(`${element} was never asked for`)
    else if (seen.has(element)) duplicates += 1
    else seen.add(element)
  }
  const lost = wanted.size - seen.size
  const missing = [...wanted].filter(element => !seen.has(element)).slice(0, 3)
  if (lost > 0) wrong.push(`missing: ${missing.join(', ')}`)
  return { records: wanted.size, outputs: records.length, duplicates, lost, wrong: wrong.slice(0, WRONG_MAX) }
}

function setOf(records: readonly ReadRecord[], elementOf: (record: ReadRecord) => string): Set<string> {
  return new Set(records.map(elementOf))
}

function sequencesOf(records: readonly ReadRecord[], elementOf: (record: ReadRecord) => string): Map<string, string[]> {
  const sequences = new Map<string, string[]>()
  for (const record of records) {
    const sequence = sequences.get(keyOf(record))
    if (sequence === undefined) sequences.set(keyOf(record), [elementOf(record)])
    else sequence.push(elementOf(record))
  }
  return sequences
}

function keyOf({ key }: ReadRecord): string {
  return key?.toString('utf8') ?? 'null'
}

function textOf({ value }: ReadRecord): string {
  return value?.toString('utf8') ?? 'null'
}

function valueOf(record: ReadRecord): Value {
  return JSON.parse(textOf(record)) as Value
}
