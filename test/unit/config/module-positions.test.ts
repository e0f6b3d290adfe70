import { expect } from 'chai'
import { json } from '../../../src/serdes/json.ts'
import { string } from '../../../src/serdes/text.ts'
import { driverOf } from './yaml-application.ts'

const SOURCES = `sources:
  a: { topic: a, key: string, value: json, timestamp: { module: ./steps.mjs#time } }
  b: { topic: b, key: string, value: json }
  table: { topic: t, as: table, key: string, value: json }
  customers: { topic: c, as: table, key: string, value: json }
  global: { topic: g, as: globalTable, key: string, value: json }
`
const beside = {
  'steps.mjs': `export const time = value => value.at
export const isBig = value => value.n > 1
export const same = value => value
export const key = (value, key) => key + '!'
export const number = value => value.n
export const headers = () => ({ from: 'module' })
export const list = value => [value, value]
export const add = (state, value) => ({ n: state.n + value.n })
export const subtract = (state, value) => ({ n: state.n - value.n })
export const larger = (left, right) => (left.n > right.n ? left : right)
export const join = (left, right) => ({ n: left.n + right.n })
export const itemKey = (item, index, value, key) => key + index
export const described = (item, index, value, key, record) => [item, index, value.items.length, key, record.timestamp]
export const customer = value => 'c' + value.n
export const id = value => String(value.n)
export const zero = () => 0
export const out = () => 'out'
export const none = () => undefined
export const isNever = () => false
`,
}

const module = (name: string): string => `{ module: ./steps.mjs#${name} }`

/** Steps of which the last is `x`, by the position that a module stands in. */
const POSITIONS: Readonly<Record<string, string>> = {
  filter: `x: { from: a, filter: ${module('isBig')} }`,
  drop: `x: { from: a, drop: ${module('isNever')} }`,
  value: `x: { from: a, value: ${module('same')} }`,
  key: `x: { from: a, key: ${module('key')} }`,
  'map.key, map.value, map.headers, map.timestamp': `x: { from: a, map: { key: ${module('key')}, value: ${module('same')}, headers: ${module('headers')}, timestamp: ${module('time')} } }`,
  'flatMap.each': `x: { from: a, flatMap: { each: ${module('list')} } }`,
  'flatMap.key, flatMap.value': `x: { from: a, flatMap: { each: "[value, value]", key: ${module('itemKey')}, value: ${module('same')} } }`,
  'flatMap.key of a module, value of an expression': `x: { from: a, flatMap: { each: ${module('list')}, key: ${module('itemKey')}, value: item }, serdes: { value: json } }`,
  'join.on a global table': `x: { from: a, join: { with: global, on: ${module('customer')}, value: ${module('join')} } }`,
  'join.on a foreign key': `j: { from: table, join: { with: customers, on: ${module('customer')}, value: ${module('join')} } }\n  x: { from: j, stream: {} }`,
  split: `s: { from: a, split: { big: ${module('isBig')} } }\n  x: { from: s.big, filter: "true" }`,
  groupBy: `x: { from: a, groupBy: ${module('key')}, count: {} }`,
  sum: `x: { from: a, sum: ${module('number')} }`,
  min: `x: { from: a, min: ${module('number')} }`,
  max: `x: { from: a, max: ${module('number')} }`,
  reduce: `x: { from: a, reduce: ${module('larger')} }`,
  'aggregate.update': `x: { from: a, aggregate: { init: { n: 0 }, update: ${module('add')} } }`,
  'aggregate.merge': `x: { from: a, window: { session: 1s, grace: 0s }, aggregate: { init: { n: 0 }, update: ${module('add')}, merge: ${module('join')} } }\n  y: { from: x, stream: {} }`,
  'aggregate.subtract': `x: { from: table, groupBy: ${module('key')}, aggregate: { init: { n: 0 }, update: ${module('add')}, subtract: ${module('subtract')} } }`,
  'repartition.partition': `x: { from: a, repartition: { partition: ${module('zero')} } }`,
  'join.value': `x: { from: a, join: { with: table, value: ${module('join')} } }`,
  'dedupe.id': `x: { from: a, dedupe: { id: ${module('id')}, within: 1m } }`,
  'peek.log': `x: { from: a, peek: ${module('same')} }`,
}

describe('a module in place of an expression', () => {
  for (const [position, steps] of Object.entries(POSITIONS)) {
    it(`works as ${position}`, async () => {
      using driver = await driverOf(
        `${SOURCES}steps:\n  ${steps}\nsinks: { out: { from: x, topicFrom: ${module('out')}, partition: ${module('none')} } }\n`,
        { beside },
      )
      for (const [topic, key] of [
        ['c', 'c1'],
        ['g', 'c2'],
        ['t', 'k'],
      ] as const)
        driver.input(topic, { key: string, value: json() }).pipe(key, { n: 1 })
      driver.input('a', { key: string, value: json() }).pipe('k', { n: 2, at: 7 })
      expect(driver.output('out', { key: string, value: json() }).isEmpty).to.equal(false)
    })
  }

  it('gives key and value of each element of a flatMap, from the element, its place and the record', async () => {
    using driver = await driverOf(
      `${SOURCES}steps:
  x: { from: a, flatMap: { each: value.items, key: ${module('itemKey')}, value: ${module('described')} } }
sinks: { out: { from: x, topic: out } }
`,
      { beside },
    )
    driver.input('a', { key: string, value: json() }).pipe('k', { items: ['x', 'y'], at: 7 })
    expect(driver.output('out', { key: string, value: json() }).readKeyValues()).to.deep.equal([
      ['k0', ['x', 0, 2, 'k', 7]],
      ['k1', ['y', 1, 2, 'k', 7]],
    ])
  })

  it('fails the record whose element gets a key that is no text', async () => {
    using driver = await driverOf(
      `${SOURCES}steps:
  x: { from: a, flatMap: { each: "[1]", key: ${module('zero')} }, serdes: { value: json } }
sinks: { out: { from: x, topic: out } }
`,
      { beside },
    )
    const pipe = (): void => driver.input('a', { key: string, value: json() }).pipe('k', { at: 7 })
    expect(pipe).to.throw(/a computed key is text/)
  })

  it('says how each of several inputs adds to one state', async () => {
    using driver = await driverOf(
      `${SOURCES}steps:
  x:
    from: [a, b]
    aggregate:
      init: { n: 0 }
      update: { a: ${module('add')}, b: { n: state.n + 10 * value.n } }
sinks: { out: { from: x, topic: out } }
`,
      { beside },
    )
    driver.input('a', { key: string, value: json() }).pipe('k', { n: 2, at: 7 })
    driver.input('b', { key: string, value: json() }).pipe('k', { n: 3 }, 8)
    expect(driver.output('out', { key: string, value: json() }).readKeyValues()).to.deep.equal([
      ['k', { n: 2 }],
      ['k', { n: 32 }],
    ])
  })
})
