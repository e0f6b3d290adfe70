import type { RecordToWrite } from '../../support/kafka-writer.ts'

const EVENTS = 240
const PAIRS = 300
const SINGLE = 150
const VERSIONS = 40
const EVERY_MS = 150

/** A row of the foreign-key join, and its table. */
export type ForeignKeyRow = readonly [topic: 'orders' | 'customers', key: string, value: string | null]

/** The records of each input topic but those of the foreign-key join: out of order, with deletions, nulls and headers. */
export function operatorInputs(
  startMs: number,
): Readonly<Record<'events' | 'pairs' | 'single' | 'versions' | 'rates', RecordToWrite[]>> {
  const random = randomNumbers(7)
  const below = (bound: number): number => Math.floor(random() * bound)
  const stamp = (at: number): number => startMs + at * EVERY_MS - (below(5) === 0 ? below(6_000) : 0)
  const valueOf = (letter: string, at: number): string | null => {
    const dice = below(100)
    return dice < 3 ? null : dice < 10 ? `${letter}DEL` : `${letter}${String(at)}`
  }
  const record = (at: number, keys: number, letter: string): RecordToWrite => ({
    key: below(50) === 0 ? null : `k${String(below(keys))}`,
    value: valueOf(letter, at),
    timestamp: stamp(at),
    headers: headers(at),
  })
  return {
    events: list(EVENTS, at => record(at, 9, 'v')),
    pairs: list(PAIRS, at => record(at, 7, below(2) === 0 ? 'L' : 'R')),
    single: list(SINGLE, at => record(at, 5, 's')),
    versions: list(VERSIONS, at => ({
      key: `k${String(below(7))}`,
      value: at % 11 === 10 ? null : `V${String(at)}`,
      timestamp: stamp(at * 5),
    })),
    rates: list(3, at => ({ key: `r${String(at)}`, value: `rate${String(at)}`, timestamp: startMs })),
  }
}

/**
 * Rows of the foreign-key join, each written once the last one has gone through: the answers to two that are under way
 * come from two partitions in either order.
 */
export const FOREIGN_KEY_ROWS: readonly ForeignKeyRow[] = [
  ['customers', 'c1', 'Ada'],
  ['customers', 'c2', 'Bob'],
  ['orders', 'o1', 'c1:1'],
  ['orders', 'o2', 'c2:2'],
  ['orders', 'o3', 'c3:3'],
  ['orders', 'o4', 'none:4'],
  ['customers', 'c3', 'Cem'],
  // Moves to another customer, to one that is missing, and to none.
  ['orders', 'o1', 'c2:5'],
  ['orders', 'o2', 'c9:6'],
  ['orders', 'o3', 'none:7'],
  ['orders', 'o4', 'c1:8'],
  ['customers', 'c2', 'Bea'],
  ['customers', 'c1', null],
  ['orders', 'o1', null],
  ['orders', 'o5', 'c2:9'],
  ['customers', 'c9', 'Zoe'],
  ['customers', 'c2', null],
]

function headers(at: number): NonNullable<RecordToWrite['headers']> {
  if (at % 3 !== 0) return []
  return [
    ['trace', `t${String(at)}`],
    ['empty', null],
  ]
}

function list(count: number, make: (at: number) => RecordToWrite): RecordToWrite[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

/** Numbers from 0 to 1 that are the same in every run (Park and Miller). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
