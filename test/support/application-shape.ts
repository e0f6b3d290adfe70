import type { ReadRecord } from './kafka-reader.ts'
import { type Account, compareSequences, type Sequences } from './sequence-account.ts'

/** What an application under test reads: the writer numbers every record. */
export interface NumberedRecord {
  readonly n: number
  readonly key: string
  readonly value: string
}

/** A kind of application: its YAML, and what its output has to be for an input. */
export interface ApplicationShape {
  /** The blocks `sources`, `steps` and `sinks`. */
  readonly flow: (topics: { readonly input: string; readonly output: string }) => readonly string[]
  /** Names of the stores whose changelogs must hold the last output of each key. */
  readonly stores: readonly string[]
  /** Steps whose repartition topic must be read to its end too. */
  readonly repartitions: readonly string[]
  readonly compare: (input: readonly ReadRecord[], output: readonly ReadRecord[]) => Account
}

/** Keys of the input; few, so that each has a long sequence. */
const KEYS = 13
const ACCOUNTS = 7
/** A prime, so that amounts repeat only after 2^31 records: a lost and a doubled amount cannot cancel out. */
const AMOUNT_STEP = 999_983

/** The nth record that tests write. */
export function numberedRecord(n: number): NumberedRecord {
  const amount = (n * AMOUNT_STEP + 7) % 2 ** 31
  return {
    n,
    key: `k${String(n % KEYS)}`,
    value: JSON.stringify({ n, account: `a${String((n * 5) % ACCOUNTS)}`, amount }),
  }
}

/** The applications that the fault tests run. */
export const SHAPES = {
  /** Every record as it is; any order but that of the input shows. */
  copy: {
    flow: ({ input, output }) => [
      'sources:',
      `  in: { topic: ${input}, key: string, value: string }`,
      'sinks:',
      `  out: { from: in, topic: ${output} }`,
    ],
    stores: [],
    repartitions: [],
    compare: (input, output) => compareSequences(sequencesOf(input, textOf), sequencesOf(output, textOf)),
  },
  /** Count per key of the input: a store and its changelog, no repartition. */
  counts: {
    flow: ({ input, output }) => [
      'sources:',
      `  in: { topic: ${input}, key: string, value: string }`,
      'steps:',
      '  counts: { from: in, count: {} }',
      'sinks:',
      `  out: { from: counts, topic: ${output} }`,
    ],
    stores: ['counts'],
    repartitions: [],
    compare: (input, output) =>
      compareSequences(
        countsOf(sequencesOf(input, textOf)),
        sequencesOf(output, ({ value }) => String(value?.readBigInt64BE(0))),
      ),
  },
  /** Count and sum per account: a repartition topic, a store and its changelog. */
  totals: {
    flow: ({ input, output }) => [
      'sources:',
      `  in: { topic: ${input}, key: string, value: json }`,
      'steps:',
      '  totals:',
      '    from: in',
      '    groupBy: value.account',
      '    aggregate:',
      '      init: { count: 0, sum: 0 }',
      '      update: { count: state.count + 1, sum: state.sum + value.amount }',
      'sinks:',
      `  out: { from: totals, topic: ${output} }`,
    ],
    stores: ['totals'],
    repartitions: ['totals'],
    compare: compareTotals,
  },
} as const satisfies Record<string, ApplicationShape>

/** Name of a kind of application. */
export type ShapeName = keyof typeof SHAPES

function textOf({ value }: ReadRecord): string {
  return value?.toString('utf8') ?? 'null'
}

function sequencesOf(records: readonly ReadRecord[], elementOf: (record: ReadRecord) => string): Sequences {
  const sequences = new Map<string, string[]>()
  for (const record of records) {
    const key = record.key?.toString('utf8') ?? 'null'
    const sequence = sequences.get(key)
    if (sequence === undefined) sequences.set(key, [elementOf(record)])
    else sequence.push(elementOf(record))
  }
  return sequences
}

function countsOf(sequences: Sequences): Sequences {
  return new Map(Array.from(sequences, ([key, { length }]) => [key, Array.from({ length }, (_, i) => String(i + 1))]))
}

interface Total {
  readonly count: number
  readonly sum: number
}

/**
 * The order in which records of several input partitions meet is open; so the counts must be 1, 2, 3 … and each step of
 * the sum one amount of the input, every amount once.
 */
function compareTotals(input: readonly ReadRecord[], output: readonly ReadRecord[]): Account {
  const amounts = new Map<string, number[]>()
  for (const record of input) {
    const { account, amount } = JSON.parse(textOf(record)) as { account: string; amount: number }
    amounts.set(account, [...(amounts.get(account) ?? []), amount])
  }
  const totals = new Map<string, Total[]>()
  for (const record of output) {
    const account = record.key?.toString('utf8') ?? 'null'
    totals.set(account, [...(totals.get(account) ?? []), JSON.parse(textOf(record)) as Total])
  }
  const account = compareSequences(
    new Map(Array.from(amounts, ([name, { length }]) => [name, Array.from({ length }, (_, i) => String(i + 1))])),
    new Map(Array.from(totals, ([name, all]) => [name, all.map(({ count }) => String(count))])),
  )
  const wrong = [...account.wrong]
  for (const [name, all] of totals) {
    const open = new Set(amounts.get(name))
    let before = 0
    for (const { count, sum } of all) {
      if (!open.delete(sum - before)) {
        wrong.push(`${name}: the sum of ${String(count)} records grew by ${String(sum - before)}`)
      }
      before = sum
    }
  }
  return { ...account, wrong }
}
