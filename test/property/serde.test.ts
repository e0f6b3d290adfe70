import { expect } from 'chai'
import fc from 'fast-check'
import { NO_HEADERS } from '../../src/model/headers.ts'
import { json } from '../../src/serdes/json.ts'
import { bigint, double, integer, long } from '../../src/serdes/numbers.ts'
import type { Serde, SerdeContext } from '../../src/serdes/serde.ts'
import { transientSerializer } from '../../src/serdes/remembering-serializer.ts'
import { string, textWithin } from '../../src/serdes/text.ts'

const context: SerdeContext = { topic: 't', side: 'value', headers: NO_HEADERS }

function givesBack<T>(serde: Serde<T>, value: T): void {
  const back = serde.deserialize(Buffer.from(serde.serialize(value, context)), context)
  expect(back).to.deep.equal(value)
}

/** Surrogates are encoded behind this byte. */
function isNoSurrogate(byte: number): boolean {
  return byte !== 0xed
}

describe('serdes give back what they wrote', () => {
  it('for numbers', () => {
    fc.assert(fc.property(fc.maxSafeInteger(), value => givesBack(long, value)))
    fc.assert(fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), value => givesBack(bigint, value)))
    fc.assert(fc.property(fc.integer(), value => givesBack(integer, value)))
    fc.assert(fc.property(fc.double(), value => givesBack(double, value)))
  })

  it('for long and bigint alike: the same bytes', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), value => {
        expect(long.serialize(value, context)).to.deep.equal(bigint.serialize(BigInt(value), context))
      }),
    )
  })

  it('for well-formed text', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), value => givesBack(string, value)))
  })

  it('for text read from any bytes, on its own or within others: as Node reads it, but for surrogates', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(5), (sample, before) => {
        const bytes = Buffer.from(sample.filter(isNoSurrogate))
        const around = Buffer.concat([Buffer.alloc(before, 0xc3), bytes, Buffer.alloc(3, 0x80)])
        const view = new DataView(around.buffer, around.byteOffset, around.length)
        expect(string.deserialize(bytes, context)).to.equal(bytes.toString('utf8'))
        expect(textWithin(around, view, before, bytes.length)).to.equal(bytes.toString('utf8'))
      }),
    )
  })

  it('for text of any kind, whether its bytes are kept or copied at once', () => {
    const { serialize } = transientSerializer(string)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), fc.string(), (left, right) => {
        const both = left + right
        expect(Buffer.from(serialize(both, context))).to.deep.equal(Buffer.from(string.serialize(both, context)))
      }),
    )
  })

  it('for JSON without forbidden keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = JSON.stringify(value)
        fc.pre(!text.includes('__proto__') && !/-?\d{16}/.test(text))
        // Written as JSON, a negative zero is a zero.
        const expected: unknown = JSON.parse(text)
        expect(json().deserialize(Buffer.from(text), context)).to.deep.equal(expected)
      }),
    )
  })

  it('or fail, for any integer written out in JSON: never another integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.string(), (value, before) => {
        const text = `{${JSON.stringify(`k${before}`)}:${String(value)}}`
        const safe = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER)
        const reading = (): unknown => json().deserialize(Buffer.from(text), context)
        if (safe) expect(reading()).to.deep.equal({ [`k${before}`]: Number(value) })
        else expect(reading).to.throw('would be rounded')
      }),
    )
  })
})
