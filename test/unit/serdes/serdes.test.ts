import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { json } from '../../../src/serdes/json.ts'
import { isNullable, nullable, withoutNull } from '../../../src/serdes/nullable.ts'
import { SERDE_NAMES, serdeNamed } from '../../../src/serdes/names.ts'
import { bigint, boolean, double, integer, long } from '../../../src/serdes/numbers.ts'
import { rememberingSerializer } from '../../../src/serdes/remembering-serializer.ts'
import type { Serde, SerdeContext } from '../../../src/serdes/serde.ts'
import { bytes, string, uuid } from '../../../src/serdes/text.ts'
import { sessionWindowed, timeWindowed } from '../../../src/serdes/windowed.ts'

const context: SerdeContext = { topic: 'orders', side: 'value', headers: NO_HEADERS }

const hexOf = <T>(serde: Serde<T>, value: T): string => Buffer.from(serde.serialize(value, context)).toString('hex')
const read = <T>(serde: Serde<T>, hex: string): T => serde.deserialize(Buffer.from(hex, 'hex'), context)
const readText = <T>(serde: Serde<T>, text: string): T => serde.deserialize(Buffer.from(text), context)

describe('serdes of numbers', () => {
  it('write the bytes of the JVM', () => {
    expect(hexOf(long, 1)).to.equal('0000000000000001')
    expect(hexOf(long, -1)).to.equal('ffffffffffffffff')
    expect(hexOf(long, Number.MAX_SAFE_INTEGER)).to.equal('001fffffffffffff')
    expect(hexOf(long, Number.MIN_SAFE_INTEGER)).to.equal('ffe0000000000001')
    expect(hexOf(bigint, -(2n ** 63n))).to.equal('8000000000000000')
    expect(hexOf(integer, -2)).to.equal('fffffffe')
    expect(hexOf(double, 0.5)).to.equal('3fe0000000000000')
    expect(hexOf(double, Number.NaN)).to.equal('7ff8000000000000')
    expect(hexOf(boolean, true)).to.equal('01')
  })

  it('keep the bytes of the last value, but write 0 and -0 as a double each by itself', () => {
    const remembered = rememberingSerializer(long)
    expect(remembered.serialize(5, context)).to.equal(remembered.serialize(5, context))
    const doubles = rememberingSerializer(double)
    expect(Buffer.from(doubles.serialize(0, context)).toString('hex')).to.equal('0000000000000000')
    expect(Buffer.from(doubles.serialize(-0, context)).toString('hex')).to.equal('8000000000000000')
  })

  it('read every long a number holds, and refuse the first one it does not', () => {
    expect(read(long, '001fffffffffffff')).to.equal(Number.MAX_SAFE_INTEGER)
    expect(read(long, 'ffe0000000000001')).to.equal(Number.MIN_SAFE_INTEGER)
    expect(() => read(long, '0020000000000000')).to.throw(RangeError, '9007199254740992 is beyond')
    expect(() => read(long, 'ffe0000000000000')).to.throw(RangeError, '-9007199254740992 is beyond')
    expect(() => read(long, '7fffffffffffffff')).to.throw(RangeError, 'the serde "bigint" reads it exactly')
    expect(read(bigint, '7fffffffffffffff')).to.equal(2n ** 63n - 1n)
  })

  it('refuse what they cannot hold', () => {
    expect(() => long.serialize(1.5, context)).to.throw(TypeError, 'got 1.5')
    expect(() => long.serialize(2 ** 53, context)).to.throw(TypeError, 'within ±(2^53 - 1)')
    expect(() => integer.serialize(2 ** 31, context)).to.throw(TypeError, '32 bits')
    expect(() => bigint.serialize(2n ** 63n, context)).to.throw(TypeError, '64 bits')
    expect(() => read(boolean, '02')).to.throw(RangeError, '0 or 1')
  })

  it('refuse bytes of another size and name both sizes', () => {
    expect(() => read(long, '00')).to.throw(RangeError, 'the serde "long" reads 8 bytes, got 1')
    expect(() => read(integer, '')).to.throw(RangeError, 'reads 4 bytes, got 0')
    expect(() => read(double, '0000')).to.throw(RangeError, 'got 2')
    expect(() => read(boolean, '')).to.throw(RangeError, 'reads 1 byte, got 0')
  })
})

describe('serdes of text', () => {
  it('write a lone surrogate as a question mark, as Java does', () => {
    expect(hexOf(string, 'a\ud800b')).to.equal('613f62')
    expect(hexOf(string, '😀')).to.equal('f09f9880')
  })

  it('replace malformed UTF-8 as Java does', () => {
    expect(read(string, '61ff62')).to.equal('a\uFFFDb')
    expect(read(string, 'eda080')).to.equal('\uFFFD')
    expect(read(string, 'e282')).to.equal('\uFFFD')
  })

  it('take a uuid in either case and write it in lower case', () => {
    expect(Buffer.from(uuid.serialize('F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6', context)).toString()).to.equal(
      'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    )
    expect(() => readText(uuid, 'f81d4fae')).to.throw(TypeError, '8-4-4-4-12')
  })

  it('copy bytes out of the shared buffer when they are read', () => {
    const shared = Buffer.from([1, 2, 3])
    const copy = bytes.deserialize(shared, context)
    shared[0] = 9
    expect([...copy]).to.deep.equal([1, 2, 3])
  })

  it('refuse a value of another type', () => {
    const anything = serdeNamed('string')
    expect(() => anything?.serialize(5 as never, context)).to.throw(TypeError, 'takes text, got 5')
  })
})

describe('json', () => {
  it('reads and writes JSON text', () => {
    expect(readText(json(), '{"a":[1,null,"x"]}')).to.deep.equal({ a: [1, null, 'x'] })
    expect(Buffer.from(json().serialize({ a: 'ü' }, context)).toString()).to.equal('{"a":"ü"}')
  })

  it('fails on an integer that a number would round, wherever it stands', () => {
    for (const text of ['9007199254740993', '[1,-9007199254740992]', '{"a":"x","b":12345678901234567890}']) {
      expect(() => readText(json(), text), text).to.throw(RangeError, 'would be rounded')
    }
  })

  it('lets digits stand in strings, in fractions and in exact integers', () => {
    expect(readText(json(), '{"card":"1234567890123456789","n":9007199254740991}')).to.deep.equal({
      card: '1234567890123456789',
      n: Number.MAX_SAFE_INTEGER,
    })
    expect(readText(json(), '["\\"12345678901234567890",0.1234567890123456]')).to.deep.equal([
      '"12345678901234567890',
      0.1234567890123456,
    ])
    expect(readText(json(), '1e300')).to.equal(1e300)
  })

  it('refuses keys that reach a prototype, escaped ones too', () => {
    for (const text of [
      '{"__proto__":{"admin":true}}',
      '{"a":[{"\\u005f_proto__":1}]}',
      '{"constructor":{"prototype":{"x":1}}}',
    ]) {
      expect(() => readText(json(), text), text).to.throw(SyntaxError, 'refused')
    }
    expect(readText(json(), '{"constructor":"Ferrari","prototype":1}')).to.deep.equal({
      constructor: 'Ferrari',
      prototype: 1,
    })
    expect(Object.hasOwn(Object.prototype, 'admin')).to.equal(false)
  })

  it('refuses invalid UTF-8', () => {
    expect(() => read(json(), '22ff22')).to.throw(SyntaxError, 'not valid UTF-8')
  })

  it('refuses texts that nest too deep, whatever stands in strings', () => {
    expect(() => readText(json(), '['.repeat(257) + ']'.repeat(257))).to.throw(RangeError, 'nests deeper than 256')
    expect(readText(json(), JSON.stringify('['.repeat(1000)))).to.equal('['.repeat(1000))
  })

  it('fails on what has no JSON form', () => {
    const anything = serdeNamed('json')
    for (const value of [undefined, () => 1, 5n, Number.NaN, { a: 1n }]) {
      expect(() => anything?.serialize(value as never, context)).to.throw(TypeError, 'JSON has no form')
    }
  })

  it('checks what it reads when given a parse function', () => {
    const positive = json((value): number => {
      if (typeof value !== 'number' || value <= 0) throw new RangeError('not positive')
      return value
    })
    expect(readText(positive, '5')).to.equal(5)
    expect(() => readText(positive, '-5')).to.throw(RangeError, 'not positive')
  })
})

describe('nullable', () => {
  it('marks a serde and keeps its bytes', () => {
    const orders = nullable(string)
    expect(orders.name).to.equal('string?')
    expect(isNullable(orders)).to.equal(true)
    expect(isNullable(string)).to.equal(false)
    expect(withoutNull(orders)).to.equal(string)
    expect(hexOf(orders, 'a')).to.equal('61')
  })

  it('is known to configuration under the name with a question mark', () => {
    expect(SERDE_NAMES).to.deep.equal([
      'string',
      'long',
      'bigint',
      'integer',
      'double',
      'boolean',
      'uuid',
      'bytes',
      'json',
    ])
    expect(serdeNamed('json?')?.name).to.equal('json?')
    expect(serdeNamed('jason')).to.equal(undefined)
  })
})

describe('serdes of windowed keys', () => {
  it('write the key, then the start', () => {
    const serde = timeWindowed(string, '1m')
    expect(hexOf(serde, { key: 'a', start: 60_000, end: 120_000 })).to.equal('61000000000000ea60')
    expect(read(serde, '61000000000000ea60')).to.deep.equal({ key: 'a', start: 60_000, end: 120_000 })
  })

  it('write the key of a session, then its end, then its start', () => {
    const serde = sessionWindowed(string)
    expect(hexOf(serde, { key: 'a', start: 1, end: 2 })).to.equal('6100000000000000020000000000000001')
    expect(read(serde, '6100000000000000020000000000000001')).to.deep.equal({ key: 'a', start: 1, end: 2 })
  })

  it('refuse bytes too short for a window', () => {
    expect(() => read(timeWindowed(string, 10), '6161')).to.throw(RangeError, 'got 2 bytes')
  })
})
