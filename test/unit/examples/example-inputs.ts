import fc from 'fast-check'

/** A record for an input topic of an example; a value of undefined is a tombstone, all others are JSON but for text. */
export interface ExampleRecord {
  readonly topic: string
  readonly key: string
  readonly value: unknown
  readonly timestamp: number
}

/** What an example reads, as random records, and what it writes. */
export interface ExampleTopics {
  readonly inputs: fc.Arbitrary<ExampleRecord>
  readonly outputs: readonly string[]
}

const MINUTE = 60_000
const people = fc.constantFrom('ada', 'bob', 'eve')
const cents = fc.integer({ min: 1, max: 90_000 })

function at(maxMs: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: maxMs })
}

function records(
  topic: string,
  key: fc.Arbitrary<string>,
  value: fc.Arbitrary<unknown>,
  timestamp: fc.Arbitrary<number> = at(60 * MINUTE),
): fc.Arbitrary<ExampleRecord> {
  return fc.record({ topic: fc.constant(topic), key, value, timestamp })
}

const scores = fc
  .record({ game: fc.constantFrom('chess', 'go'), player: people, points: fc.nat(50) })
  .chain(score => records('scores', fc.constant(`${score.player}@${score.game}`), fc.constant(score), at(MINUTE)))

/** Every example by its name. */
export const EXAMPLES: Readonly<Record<string, ExampleTopics>> = {
  'click-sessions': {
    inputs: records('clicks', people, fc.record({ page: fc.constantFrom('/', '/cart', '/help') }), at(400 * MINUTE)),
    outputs: ['visits'],
  },
  deduplication: {
    inputs: records(
      'readings',
      people,
      fc.record({ id: fc.constantFrom('r1', 'r2', 'r3'), celsius: fc.integer({ min: -40, max: 40 }) }),
      at(5000 * MINUTE),
    ),
    outputs: ['unique-readings'],
  },
  'enriched-orders': {
    inputs: fc.oneof(
      records('customers', people, fc.option(fc.record({ name: fc.string() }), { nil: undefined })),
      records('orders', fc.constantFrom('o1', 'o2'), fc.record({ customerId: people, cents })),
    ),
    outputs: ['enriched-orders'],
  },
  'foreign-key-join': {
    inputs: fc.oneof(
      records(
        'order-lines',
        fc.constantFrom('l1', 'l2', 'l3'),
        fc.option(fc.record({ productId: fc.constantFrom('p1', 'p2', null), quantity: fc.nat(9) }), { nil: undefined }),
      ),
      records(
        'products',
        fc.constantFrom('p1', 'p2'),
        fc.option(fc.record({ name: fc.string(), cents }), { nil: undefined }),
      ),
    ),
    outputs: ['priced-lines'],
  },
  'fraud-velocity': {
    inputs: records('payments', people, fc.record({ card: people, cents, at: at(40 * MINUTE) })),
    outputs: ['card-alerts'],
  },
  'late-data': {
    inputs: records(
      'views',
      people,
      fc.record({ page: fc.constantFrom('/', '/help'), at: fc.integer({ min: -9, max: 9 * MINUTE }) }),
    ),
    outputs: ['views-per-minute', 'late-views'],
  },
  leaderboard: { inputs: scores, outputs: ['leaderboard'] },
  ledger: {
    inputs: records('transfers', fc.uuid(), fc.record({ from: people, to: people, cents })),
    outputs: ['balances', 'overdrawn'],
  },
  'stuck-orders': {
    inputs: records(
      'order-events',
      fc.constantFrom('o1', 'o2', 'o3', 'o4'),
      fc.record({ type: fc.constantFrom('paid', 'paid', 'shipped', 'cancelled') }),
      at(600 * MINUTE),
    ),
    outputs: ['stuck-orders'],
  },
  'word-count': {
    inputs: records('lines', people, fc.stringMatching(/^[aA]? ?rose( is)?$/)),
    outputs: ['words'],
  },
}
