import { expect } from 'chai'
import { JsonWriter } from '../../../src/serdes/json-writer.ts'

const written = (value: unknown, writer = new JsonWriter()): string | undefined => writer.write(value)?.toString()

describe('JsonWriter', () => {
  it('writes what JSON.stringify writes', () => {
    const writer = new JsonWriter()
    for (const value of [
      { id: 'o1', customer: 'c1', net: 5 },
      { id: 'o2', net: -5, customer: 'c2', more: null },
      { id: undefined, net: 0, yes: true, no: false },
      {
        at: 1_700_000_000_123,
        min: Number.MIN_SAFE_INTEGER,
        max: Number.MAX_SAFE_INTEGER,
        zero: -0,
        ten: 1e8,
        eleven: 1e9,
      },
      {
        half: 0.5,
        tiny: 5e-324,
        huge: 1.7976931348623157e308,
        e21: 1e21,
        nothing: [Number.NaN, Number.POSITIVE_INFINITY],
      },
      { text: 'Jürgen 😀 "quoted" \\ \n \u0000 \u007f \u2028 \ud800', 'ké"y': 1, '': 2 },
      { b: { c: { d: [] } }, a: [[], {}, [undefined, null, 'x']], 7: 1, 1: 2 },
      { long: 'x'.repeat(300), more: 'ü'.repeat(300) },
      'text',
      '',
      5,
      true,
      null,
      [],
      {},
      Object.assign([], { 0: 1, 2: 3 }),
      JSON.parse('{"__proto__":1}'),
    ]) {
      expect(written(value, writer), JSON.stringify(value)).to.equal(JSON.stringify(value))
    }
  })

  it('leaves to JSON.stringify what writes itself, or has no form, or another one than a plain object', () => {
    class Order {
      readonly id = 1
    }
    const cyclic: { self?: unknown } = {}
    cyclic.self = cyclic
    for (const value of [
      undefined,
      Number.NaN,
      5n,
      Symbol('s'),
      () => 1,
      new Date(0),
      new Map(),
      new Order(),
      Object(5),
      Buffer.from('x'),
      { toJSON: () => 5 },
      { toJSON: 5 },
      Object.assign([1], { toJSON: () => 5 }),
      Object.create({ toJSON: () => 5 }),
      Object.create(null),
      cyclic,
      { a: new Date(0) },
      [new Order()],
      { a: () => 1 },
      { a: Symbol('s') },
      { a: [5n] },
    ]) {
      expect(new JsonWriter().write(value)).to.equal(undefined)
    }
  })

  it('gives values longer than its memory to JSON.stringify once, and has room for the next one', () => {
    const writer = new JsonWriter()
    const value = { a: Array.from({ length: 400 }, (_, index) => index), b: 'ü'.repeat(900) }
    expect(written(value, writer)).to.equal(undefined)
    expect(written(value, writer)).to.equal(JSON.stringify(value))
    const huge = { a: Array.from({ length: 100_000 }, (_, index) => index) }
    for (let count = 0; count < 10; count += 1) expect(written(huge, writer)).to.equal(undefined)
    expect(written(value, writer)).to.equal(JSON.stringify(value))
  })

  it('gives no bytes of memory that has become too small', () => {
    const writer = new JsonWriter()
    expect(written({ a: 1 }, writer)).to.equal('{"a":1}')
    expect(written({ a: 'ü'.repeat(900) }, writer)).to.equal(undefined)
    expect(written({ a: 2 }, writer)).to.equal('{"a":2}')
  })

  it('writes nothing that all objects have been given', () => {
    const prototype = Object.prototype as { listed?: number }
    prototype.listed = 1
    try {
      expect(written({ a: 1 })).to.equal(undefined)
    } finally {
      delete prototype.listed
    }
    expect(written({ a: 1 })).to.equal('{"a":1}')
  })

  it('is given up for a while where every object has other keys', () => {
    const writer = new JsonWriter()
    let count = 0
    for (let index = 0; index < 10_000; index += 1)
      if (writer.write({ [`k${String(index)}`]: 1 }) !== undefined) count += 1
    expect(count).to.equal(256)
    expect(written({ k1: 1 }, writer), 'in a pause').to.equal(undefined)
  })

  it('gives bytes that are others with the next value', () => {
    const writer = new JsonWriter()
    const first = writer.write({ a: 1 })
    expect(writer.write({ a: 2 })).to.equal(first)
    expect(first?.toString()).to.equal('{"a":2}')
  })

  it('is not disturbed by a value that writes another one, or throws, while it is written', () => {
    const writer = new JsonWriter()
    const nesting = {
      a: 1,
      get b() {
        return writer.write({ other: 'value' }) === undefined ? 'left' : 'written'
      },
    }
    expect(written(nesting, writer)).to.equal('{"a":1,"b":"left"}')
    const throwing = {
      get a() {
        throw new RangeError('not now')
      },
    }
    expect(() => writer.write(throwing)).to.throw(RangeError, 'not now')
    expect(written({ a: 1 }, writer)).to.equal('{"a":1}')
  })
})
