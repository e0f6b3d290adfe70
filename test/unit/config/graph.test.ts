import { expect } from 'chai'
import { loadApplication } from '../../../src/config/load-application.ts'
import { json } from '../../../src/serdes/json.ts'
import { bigint, long } from '../../../src/serdes/numbers.ts'
import { nullable } from '../../../src/serdes/nullable.ts'
import type { AnySerde } from '../../../src/serdes/serde.ts'
import { string } from '../../../src/serdes/text.ts'
import type { TestDriver } from '../../../src/testing/test-driver.ts'
import { driverOf, loadYaml, HEAD, problemsOfYaml } from './yaml-application.ts'

const ORDERS = 'sources: { orders: { topic: orders, key: string, value: json } }\n'

/** Pipes `[key, value]` pairs and gives what came out at `out`. */
async function results(
  steps: string,
  records: readonly (readonly [key: string | null, value: unknown, timestamp?: number])[],
  serdes: { readonly key?: AnySerde; readonly value?: AnySerde } = {},
): Promise<readonly (readonly unknown[])[]> {
  using driver = await driverOf(`${ORDERS}${steps}`)
  pipe(driver, records)
  return driver.output('out', { key: serdes.key ?? string, value: serdes.value ?? json() }).readKeyValues()
}

function pipe(
  driver: TestDriver,
  records: readonly (readonly [key: string | null, value: unknown, timestamp?: number])[],
): void {
  const input = driver.input('orders', { key: string, value: json() })
  for (const [key, value, timestamp = 0] of records) input.pipe(key, value as never, timestamp)
}

describe('steps of a YAML application', () => {
  it('filter, drop, map and take values', async () => {
    const steps = `steps:
  kept: { from: orders, filter: value.n > 1 }
  small: { from: kept, drop: value.n >= 10 }
  made: { from: small, map: { key: key + "-" + string(value.n), value: { twice: value.n * 2, fixed: { literal: x } } } }
sinks: { out: { from: made, topic: out } }
`
    expect(
      await results(steps, [
        ['a', { n: 1 }],
        ['b', { n: 2 }],
        ['c', { n: 10 }],
      ]),
    ).to.deep.equal([['b-2', { twice: 4, fixed: 'x' }]])
  })

  it('set headers and timestamps of what they make', async () => {
    using driver = await driverOf(`${ORDERS}steps:
  made: { from: orders, map: { headers: { kind: value.kind, none: null }, timestamp: value.at } }
sinks: { out: { from: made, topic: out } }
`)
    pipe(driver, [['a', { kind: 'x', at: 77 }, 5]])
    const record = driver.output('out', { key: string, value: json() }).read()
    expect(record).to.include({ key: 'a', timestamp: 77 })
    expect(record?.headers.getString('kind')).to.equal('x')
    expect(record?.headers.get('none')).to.equal(null)
  })

  it('make any number of records of one', async () => {
    const steps = `steps:
  parts: { from: orders, flatMap: { each: value.items, key: item.sku, value: { n: item.n, at: index } } }
sinks: { out: { from: parts, topic: out } }
`
    expect(
      await results(steps, [
        [
          'a',
          {
            items: [
              { sku: 's1', n: 1 },
              { sku: 's2', n: 2 },
            ],
          },
        ],
        ['b', { items: [] }],
      ]),
    ).to.deep.equal([
      ['s1', { n: 1, at: 0 }],
      ['s2', { n: 2, at: 1 }],
    ])
  })

  it('split and merge', async () => {
    const steps = `steps:
  sizes: { from: orders, split: { big: value.n > 10, middle: value.n > 5, rest: default } }
  both: { from: [sizes.big, sizes.rest] }
sinks: { out: { from: both, topic: out } }
`
    expect(
      await results(steps, [
        ['a', { n: 1 }],
        ['b', { n: 7 }],
        ['c', { n: 11 }],
      ]),
    ).to.deep.equal([
      ['a', { n: 1 }],
      ['c', { n: 11 }],
    ])
  })

  it('count per key and per group, through a repartition topic named after the step', async () => {
    using driver = await driverOf(`${ORDERS}steps:
  perKey: { from: orders, count: {} }
  perKind: { from: orders, groupBy: value.kind, count: {}, store: kinds }
sinks: { out: { from: perKey, topic: out }, kinds: { from: perKind, topic: kinds } }
`)
    pipe(driver, [
      ['a', { kind: 'x' }],
      ['a', { kind: 'y' }],
      ['b', { kind: 'x' }],
    ])
    expect(driver.output('out', { key: string, value: long }).readKeyValues()).to.deep.equal([
      ['a', 1],
      ['a', 2],
      ['b', 1],
    ])
    expect(driver.output('kinds', { key: string, value: long }).readKeyValues()).to.deep.equal([
      ['x', 1],
      ['y', 1],
      ['x', 2],
    ])
    expect(driver.producedTopics).to.include.members([
      'app-perKind-repartition',
      'app-kinds-changelog',
      'app-perKey-changelog',
    ])
  })

  it('sum, find least and greatest, reduce and aggregate', async () => {
    const records = [
      ['a', { n: 3 }],
      ['a', { n: 1.5 }],
      ['a', { n: 5 }],
    ] as const
    const of = (operator: string): Promise<readonly (readonly unknown[])[]> =>
      results(`steps: { r: { from: orders, ${operator} } }\nsinks: { out: { from: r, topic: out } }\n`, records)
    expect((await of('sum: value.n')).at(-1)).to.deep.equal(['a', 9.5])
    expect((await of('min: value.n')).at(-1)).to.deep.equal(['a', 1.5])
    expect((await of('max: value.n')).at(-1)).to.deep.equal(['a', 5])
    expect((await of('reduce: "{\'n\': state.n + value.n}"')).at(-1)).to.deep.equal(['a', { n: 9.5 }])
    expect(
      (await of('aggregate: { init: { n: 0, k: [] }, update: { n: state.n + 1, k: "state.k + [value.n]" } }')).at(-1),
    ).to.deep.equal(['a', { n: 3, k: [3, 1.5, 5] }])
  })

  it('keep a bigint sum exact', async () => {
    using driver = await driverOf(`sources: { orders: { topic: orders, key: string, value: bigint } }
steps: { r: { from: orders, sum: value, serdes: { value: bigint } } }
sinks: { out: { from: r, topic: out } }
`)
    const input = driver.input('orders', { key: string, value: bigint })
    input.pipe('a', 2n ** 60n)
    input.pipe('a', 1n)
    expect(driver.output('out', { key: string, value: bigint }).readKeyValues().at(-1)).to.deep.equal([
      'a',
      2n ** 60n + 1n,
    ])
  })

  it('fail on a sum that would be rounded, and leave the state as it was', async () => {
    using driver = await driverOf(
      `errors: { processing: skip }\n${ORDERS}steps: { r: { from: orders, sum: value.n } }\nsinks: { out: { from: r, topic: out } }\n`,
    )
    pipe(driver, [
      ['a', { n: Number.MAX_SAFE_INTEGER }],
      ['a', { n: 1 }],
      ['a', { n: -1 }],
    ])
    expect(
      driver
        .output('out', { key: string, value: json() })
        .readKeyValues()
        .map(([, value]) => value),
    ).to.deep.equal([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1])
    expect(driver.dropped.get('skipped')).to.equal(1)
  })

  it('join with a table, left and inner', async () => {
    for (const [type, expected] of [
      ['inner', [['c1', { n: 1, name: 'Ada' }]]],
      [
        'left',
        [
          ['c1', { n: 1, name: 'Ada' }],
          ['c2', { n: 2, name: null }],
        ],
      ],
    ] as const) {
      using driver = await driverOf(joining(type))
      driver.input('customers', { key: string, value: json() }).pipe('c1', { name: 'Ada' })
      pipe(driver, [
        ['o1', { c: 'c1', n: 1 }],
        ['o2', { c: 'c2', n: 2 }],
      ])
      expect(driver.output('out', { key: string, value: json() }).readKeyValues()).to.deep.equal(expected)
    }
  })

  it('work on tables: filter, value, groupBy with subtract, and back to a stream', async () => {
    using driver = await driverOf(`sources: { orders: { topic: orders, as: table, key: string, value: json } }
steps:
  big: { from: orders, filter: value.n > 1 }
  perKind: { from: big, groupBy: value.kind, aggregate: { init: 0, update: state + value.n, subtract: state - value.n } }
  updates: { from: big, stream: { deletions: drop } }
sinks: { out: { from: perKind, topic: out }, log: { from: updates, topic: updates } }
`)
    pipe(driver, [
      ['a', { kind: 'x', n: 5 }],
      ['b', { kind: 'x', n: 2 }],
      ['a', { kind: 'y', n: 7 }],
      ['b', { kind: 'x', n: 1 }],
    ])
    expect(driver.output('out', { key: string, value: json() }).readMap()).to.deep.equal(
      new Map([
        ['x', 0],
        ['y', 7],
      ]),
    )
    expect(
      driver
        .output('updates', { key: string, value: json() })
        .readKeyValues()
        .map(([key]) => key),
    ).to.deep.equal(['a', 'b', 'a'])
  })

  it('choose topic and partition per record', async () => {
    using driver = await driverOf(
      `${ORDERS}sinks: { out: { from: orders, topicFrom: '"orders-" + value.kind', partition: "null" } }\n`,
    )
    pipe(driver, [
      ['a', { kind: 'x' }],
      ['b', { kind: 'y' }],
    ])
    expect(driver.output('orders-x', { key: string, value: json() }).readKeyValues()).to.have.lengthOf(1)
    expect(driver.producedTopics).to.include('orders-y')
  })

  it('read timestamps, as ms or as RFC 3339, and skip invalid ones where told to', async () => {
    using driver = await driverOf(`sources:
  orders: { topic: orders, key: string, value: json, timestamp: { expr: timestamp(value.at), onInvalid: skip } }
sinks: { out: { from: orders, topic: out } }
`)
    pipe(driver, [
      ['a', { at: '1970-01-01T00:00:01Z' }],
      ['b', {}],
    ])
    expect(
      driver
        .output('out', { key: string, value: json() })
        .readAll()
        .map(record => record.timestamp),
    ).to.deep.equal([1_000])
  })

  it('refuse a computed key that is no text, as a failure of that record', async () => {
    using driver = await driverOf(
      `errors: { processing: deadLetter, deadLetterTopic: dlq }\n${ORDERS}steps: { keyed: { from: orders, key: value.id } }\nsinks: { out: { from: keyed, topic: out } }\n`,
    )
    pipe(driver, [
      ['a', { id: 5 }],
      ['b', { id: 'x' }],
    ])
    expect(driver.output('out', { key: string, value: json() }).readKeyValues()).to.deep.equal([['x', { id: 'x' }]])
    expect(driver.output('dlq', { key: string, value: json() }).readKeyValues()).to.deep.equal([['a', { id: 5 }]])
  })

  it('hold nulls back where the serde admits none, and let them in where it does', async () => {
    using strict = await driverOf(
      `errors: { deserialization: skip }\n${ORDERS}sinks: { out: { from: orders, topic: out } }\n`,
    )
    pipe(strict, [
      ['a', null],
      ['b', 1],
    ])
    expect(strict.output('out', { key: string, value: json() }).readKeyValues()).to.deep.equal([['b', 1]])
    using lenient = await driverOf(
      `sources: { orders: { topic: orders, key: string, value: json? } }\nsinks: { out: { from: orders, topic: out } }\n`,
    )
    pipe(lenient, [['a', null]])
    expect(lenient.output('out', { key: string, value: nullable(json()) }).readKeyValues()).to.deep.equal([['a', null]])
  })
})

describe('modules in a YAML application', () => {
  const beside = {
    'steps.mjs': `export const isBig = value => value.n > 1
export const doubled = (value, key) => ({ key, n: value.n * 2 })
export const upper = { name: 'upper', serialize: text => Buffer.from(text.toUpperCase()), deserialize: bytes => bytes.toString() }
export const wait = async () => 1
export const emitTwice = { init: ({ forward }) => record => { forward(record); forward(record) } }
export const notAFunction = 5
`,
  }

  it('stand where an expression may, relative to the file', async () => {
    using driver = await driverOf(
      `${ORDERS}steps:
  big: { from: orders, filter: { module: ./steps.mjs#isBig } }
  made: { from: big, value: { module: ./steps.mjs#doubled } }
  twice: { from: made, process: ./steps.mjs#emitTwice }
sinks: { out: { from: twice, topic: out, key: { module: ./steps.mjs#upper } } }
`,
      { beside },
    )
    pipe(driver, [
      ['a', { n: 1 }],
      ['b', { n: 2 }],
    ])
    expect(driver.output('out', { key: string, value: json() }).readKeyValues()).to.deep.equal([
      ['B', { key: 'b', n: 4 }],
      ['B', { key: 'b', n: 4 }],
    ])
  })

  it('are refused when they return promises, as a failure of that record', async () => {
    using driver = await driverOf(
      `${ORDERS}steps: { w: { from: orders, value: { module: ./steps.mjs#wait } } }\nsinks: { out: { from: w, topic: out } }\n`,
      { beside },
    )
    expect(() => pipe(driver, [['a', 1]]))
      .to.throw()
      .with.property('code', 'STEP_RETURNED_PROMISE')
  })

  it('are named with their place when they cannot be used', async () => {
    expect(
      await problemsOfYaml(
        `${HEAD}${ORDERS}steps:
  a: { from: orders, filter: { module: ./steps.mjs#isBgi } }
  b: { from: orders, filter: { module: ./gone.mjs#x } }
  c: { from: orders, value: { module: ./steps.mjs#notAFunction } }
  d: { from: orders, process: ./steps.mjs#isBig }
  e: { from: orders, value: { module: steps } }
`,
        { beside },
      ),
    ).to.satisfy((problems: string[]) => {
      expect(problems[0]).to.equal('5:40 the module ./steps.mjs exports no "isBgi" (did you mean "isBig"?)')
      expect(problems[1]).to.match(/^6:40 the module .\/gone.mjs cannot be imported/)
      expect(problems[2]).to.equal('7:39 ./steps.mjs#notAFunction is no function')
      expect(problems[3]).to.contain('8:31 ./steps.mjs#isBig is no processor')
      expect(problems[4]).to.contain('9:39 a module is written as ./file.js#exportedName')
      return problems.length === 5
    })
  })
})

describe('what loading gives beside the graph', () => {
  it('tests with topics in place of names, and the serdes of topics', async () => {
    const { tests, topicSerdes } = await loadApplication(['config/order-totals.yaml'])
    expect(tests.map(test => test.name)).to.deep.equal(['counts and sums the paid orders of each customer'])
    expect(tests[0]?.events[0]).to.deep.include({ kind: 'record', topic: 'orders', key: 'o1', timestamp: undefined })
    expect(tests[0]?.outputs[0]).to.deep.include({
      topic: 'order-totals',
      key: 'ada',
      value: { orders: 1, cents: 500 },
    })
    expect(topicSerdes.get('order-totals')?.key?.name).to.equal('string')
    expect(topicSerdes.get('order-totals-totals-changelog')?.value?.name).to.equal('json')
  })

  it('tests with events, and mistakes in them', async () => {
    const text = `${HEAD}${ORDERS}sinks: { out: { from: orders, topic: out } }
tests:
  - name: events
    inputs: [{ source: orders, key: a, value: 1, timestamp: 5, headers: { h: x } }, { advanceWallClock: 10s }, { restart: true }, { abort: true }]
    outputs: [{ sink: out, key: a, value: 1 }]
    dropped: { late: 0 }
`
    const { tests } = await loadYaml(text)
    expect(tests[0]?.events.slice(1)).to.deep.equal([
      { kind: 'advanceWallClock', byMs: 10_000 },
      { kind: 'restart' },
      { kind: 'abort' },
    ])
    expect(await problemsOfYaml(text.replace('sink: out,', 'sink: uot,').replace('late: 0', 'lat: 0'))).to.deep.equal([
      '8:23 there is no sink "uot" (did you mean "out"?)',
      '9:16 unknown key "lat" in "dropped" of the test (did you mean "late"?)',
    ])
  })
})

function joining(type: string): string {
  return `sources:
  orders: { topic: orders, key: string, value: json }
  customers: { topic: customers, as: table, key: string, value: json }
steps:
  keyed: { from: orders, key: value.c }
  joined: { from: keyed, join: { with: customers, type: ${type}, value: { n: left.n, name: "right.?name" } } }
sinks: { out: { from: joined, topic: out } }
`
}
