import { uniqueName } from '../../support/broker.ts'

/** Topics of the application that random faults are thrown at. */
export interface MillTopics {
  readonly orders: string
  readonly payments: string
  readonly accounts: string
  readonly lines: string
  readonly products: string
  readonly ledger: string
  readonly totals: string
  readonly enriched: string
  readonly paid: string
  readonly priced: string
}

/** Largest time between an order and its payments. */
export const WITHIN_MS = 300

/** Names that no other run uses. */
export function millTopics(id: string): MillTopics {
  const topic = (name: string): string => `${name}-of-${id}`
  return {
    orders: topic('orders'),
    payments: topic('payments'),
    accounts: topic('accounts'),
    lines: topic('lines'),
    products: topic('products'),
    ledger: topic('ledger'),
    totals: topic('totals'),
    enriched: topic('enriched'),
    paid: topic('paid'),
    priced: topic('priced'),
  }
}

/** An `application.id` that no other run uses. */
export function millId(): string {
  return uniqueName('mill')
}

/** Topics that are written from outside. */
export function inputsOf(topics: MillTopics): readonly string[] {
  return [topics.orders, topics.payments, topics.accounts, topics.lines, topics.products]
}

/** Topics that only the application writes. */
export function outputsOf(topics: MillTopics): readonly string[] {
  return [topics.ledger, topics.totals, topics.enriched, topics.paid, topics.priced]
}

/**
 * Counts, sums and joins of every kind over four subtopologies: a store without and with repartition, a stream-table
 * join behind a repartition topic, a windowed join of two streams, and a foreign-key join with its two internal topics.
 */
export function millYaml(mill: {
  readonly id: string
  readonly topics: MillTopics
  readonly bootstrapServers: string
  /** @default 'debug' */
  readonly logLevel?: 'debug' | 'info'
  readonly streams?: Readonly<Record<string, string | number | boolean>>
  readonly kafka?: Readonly<Record<string, string | number | boolean>>
}): string {
  const { id, topics, bootstrapServers, logLevel = 'debug', streams = {}, kafka = {} } = mill
  return [
    'streams:',
    `  application.id: ${id}`,
    ...linesOf(streams),
    'kafka:',
    `  bootstrap.servers: "${bootstrapServers}"`,
    ...linesOf(kafka),
    'http: { port: 0 }',
    `logging: { format: json, level: ${logLevel} }`,
    'sources:',
    `  orders: ${source(topics.orders)}`,
    `  payments: ${source(topics.payments)}`,
    `  accounts: ${source(topics.accounts, ' as: table,')}`,
    `  lines: ${source(topics.lines, ' as: table,')}`,
    `  products: ${source(topics.products, ' as: table,')}`,
    'steps:',
    // The digest depends on the order of the records of a key.
    '  ledger:',
    '    from: orders',
    '    aggregate:',
    '      init: { count: 0, sum: 0, digest: 0 }',
    '      update:',
    '        count: state.count + 1',
    '        sum: state.sum + value.amount',
    '        digest: (state.digest * 31 + value.n) % 1000003',
    '  totals:',
    '    from: orders',
    '    groupBy: value.account',
    '    aggregate:',
    '      init: { count: 0, sum: 0 }',
    '      update: { count: state.count + 1, sum: state.sum + value.amount }',
    '  by-account: { from: orders, key: value.account }',
    '  enriched:',
    '    from: by-account',
    '    join: { with: accounts, type: left, value: { n: left.n, version: "right.?version" } }',
    '  paid:',
    '    from: orders',
    `    join: { with: payments, within: ${String(WITHIN_MS)}ms, grace: 1d, value: { order: left.n, payment: right.n } }`,
    '  priced:',
    '    from: lines',
    '    join: { with: products, on: value.product, value: { line: left.n, product: right.n } }',
    'sinks:',
    ...(['ledger', 'totals', 'enriched', 'paid', 'priced'] as const).map(
      name => `  ${name}-out: { from: ${name}, topic: ${topics[name]} }`,
    ),
  ].join('\n')
}

function source(topic: string, as = ''): string {
  return `{ topic: ${topic},${as} key: string, value: json }`
}

function linesOf(properties: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(properties).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`)
}
