import fc from 'fast-check'
import type { Drawn } from './events.ts'
import type { Operation, Operator, Windows } from './operations.ts'

const fn = fc.nat(5)
const fold = fc.constantFrom('count' as const, 'reduce' as const, 'aggregate' as const)
const join = fc.constantFrom('inner' as const, 'left' as const, 'outer' as const)
const grace = fc.constantFrom(0, 5, 10, 40, 200)
const history = fc.option(fc.constantFrom(10, 40), { freq: 4, nil: null })
const isStored = fc.constantFrom(false, false, true)
const isLeft = fc.boolean()

const windows: fc.Arbitrary<Windows> = fc.oneof(
  fc.record({ type: fc.constant('tumbling' as const), size: fc.constantFrom(10, 25), grace }),
  fc.record({
    type: fc.constant('hopping' as const),
    size: fc.constantFrom(20, 30),
    every: fc.constantFrom(7, 10, 15),
    grace,
  }),
  fc.record({ type: fc.constant('sliding' as const), difference: fc.constantFrom(1, 10, 20), grace }),
  fc.record({ type: fc.constant('session' as const), gap: fc.constantFrom(5, 10), grace }),
)

const onStreams: readonly fc.Arbitrary<Operation>[] = [
  fc.record({
    kind: fc.constantFrom(
      'filter' as const,
      'filterNot' as const,
      'mapValues' as const,
      'flatMapValues' as const,
      'map' as const,
      'flatMap' as const,
      'selectKey' as const,
    ),
    fn,
  }),
  fc.record({ kind: fc.constantFrom('merge' as const, 'repartition' as const) }),
  fc.record({ kind: fc.constant('split' as const), fn, taken: fc.constantFrom('first' as const, 'rest' as const) }),
  fc.record({ kind: fc.constant('dedupe' as const), fn, within: fc.constantFrom(5, 20) }),
]

const processing: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constant('process' as const),
  keepsKey: fc.constantFrom(false, false, true),
  every: fc.option(fc.constantFrom(15, 40), { nil: null }),
  by: fc.constantFrom('streamTime' as const, 'wallClock' as const),
})

const conversion: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constant('convert' as const),
  type: fc.constantFrom(
    'json' as const,
    'long' as const,
    'bytes' as const,
    'double' as const,
    'integer' as const,
    'boolean' as const,
  ),
})

const windowed: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constant('windowed' as const),
  by: fc.option(fn, { nil: null }),
  fold,
  windows,
  emit: fc.constantFrom('updates' as const, 'final' as const),
  keepsLate: fc.boolean(),
})

const toTables: readonly fc.Arbitrary<Operation>[] = [
  fc.record({ kind: fc.constant('toTable' as const), history }),
  fc.record({ kind: fc.constant('aggregate' as const), by: fc.option(fn, { nil: null }), fold, history }),
  fc.record({ kind: fc.constant('cogroup' as const), windows: fc.option(windows, { nil: null }) }),
]

const joins: readonly fc.Arbitrary<Operation>[] = [
  fc.record({
    kind: fc.constant('streamJoin' as const),
    join,
    before: fc.constantFrom(0, 10, 25),
    after: fc.constantFrom(0, 10, 25),
    grace,
  }),
  fc.record({
    kind: fc.constant('streamTableJoin' as const),
    isLeft,
    grace: fc.option(fc.constantFrom(0, 10, 30), { nil: null }),
  }),
  fc.record({ kind: fc.constant('globalTableJoin' as const), isLeft, fn }),
  fc.record({ kind: fc.constant('tableJoin' as const), join, isStored }),
  fc.record({ kind: fc.constant('foreignKeyJoin' as const), isLeft, fn }),
]

const onTables: readonly fc.Arbitrary<Operation>[] = [
  fc.record({
    kind: fc.constantFrom(
      'tableFilter' as const,
      'tableFilterNot' as const,
      'tableMapValues' as const,
      'tableTransformValues' as const,
    ),
    fn,
    isStored,
  }),
  fc.record({ kind: fc.constant('tableGroup' as const), fn, fold }),
  fc.record({
    kind: fc.constant('suppress' as const),
    until: fc.constantFrom<(number | 'windowCloses')[]>('windowCloses', 0, 10, 30),
    maxRecords: fc.option(fc.constantFrom(1, 2, 3), { nil: null, freq: 3 }),
    maxBytes: fc.option(fc.integer({ min: 35, max: 130 }), { nil: null, freq: 2 }),
    whenFull: fc.constantFrom('emit' as const, 'emit' as const, 'stop' as const),
  }),
]

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: fc.oneof(...onStreams) },
  { weight: 1, arbitrary: processing },
  { weight: 1, arbitrary: conversion },
  { weight: 3, arbitrary: fc.oneof(...toTables) },
  { weight: 3, arbitrary: windowed },
  { weight: 4, arbitrary: fc.oneof(...joins) },
  { weight: 4, arbitrary: fc.oneof(...onTables) },
)

const operator: fc.Arbitrary<Operator> = fc.record({
  operation,
  // Mostly the result before, so that chains come about.
  input: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) }),
  // Often the same result again, or the one before it: joins of what was joined.
  other: fc.oneof({ weight: 1, arbitrary: fc.nat(1) }, { weight: 2, arbitrary: fc.nat(5) }),
  isWritten: fc.boolean(),
})

/** Topologies of two to five operators. */
export const operators: fc.Arbitrary<Operator[]> = fc.array(operator, { minLength: 2, maxLength: 5, size: 'max' })

const header = fc.tuple(fc.constantFrom('h', 'i'), fc.constantFrom<(string | null)[]>('1', '2', '', null))

const drawn: fc.Arbitrary<Drawn> = fc.record({
  topic: fc.nat(4),
  key: fc.oneof({ weight: 20, arbitrary: fc.constantFrom('a', 'b', 'c') }, { weight: 1, arbitrary: fc.constant(null) }),
  value: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'xy') },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  step: fc.oneof(
    // Most parameters are multiples of five, and so are many times: the bounds of windows are met exactly.
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.integer({ min: -3, max: 4 }).map(steps => steps * 5) },
    { weight: 4, arbitrary: fc.integer({ min: -12, max: 15 }) },
    { weight: 2, arbitrary: fc.integer({ min: -50, max: 80 }) },
    { weight: 1, arbitrary: fc.constantFrom(300, -300, 70_000) },
  ),
  wall: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(5, 15, 40, 100) }),
  headers: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(header, { minLength: 1, maxLength: 3 }) },
  ),
  after: fc.oneof(
    { weight: 6, arbitrary: fc.constant('nothing' as const) },
    { weight: 2, arbitrary: fc.constantFrom('commit' as const, 'abort' as const, 'restart' as const) },
  ),
})

/** The records of a run. */
export const records: fc.Arbitrary<Drawn[]> = fc.array(drawn, { minLength: 1, maxLength: 40, size: 'max' })
