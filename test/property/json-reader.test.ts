import { expect } from 'chai'
import fc from 'fast-check'
import { NO_HEADERS } from '../../src/model/headers.ts'
import { json, readJson } from '../../src/serdes/json.ts'
import { expectIdentical } from '../support/identical.ts'
import { ReaderUnderTest } from '../support/reader-under-test.ts'

/** Values as they are written, many of them at the edge of what JSON is, or beyond. */
const SCALARS = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '-0.0',
    '1e5',
    '1E+5',
    '-1.5e-7',
    '1.10',
    '01',
    '-01',
    '-',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e400',
    'NaN',
    'true',
    'null',
    '123456789012345',
    '1234567890123456',
    '9007199254740991',
    '9007199254740993',
    '0.12345678901234',
    '0.123456789012345',
    '"a"',
    '"paid"',
    '"\\n"',
    '"\\u00e9"',
    '"\\u12"',
    '"\n"',
    '"é"',
    '"',
    '""',
    '"\\"',
    'tru',
    'falsefalse',
    '[]',
    '{}',
    '[',
    '}',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.tuple(fc.maxSafeInteger(), fc.nat(20)).map(([digits, decimals]) => (digits / 10 ** decimals).toFixed(decimals)),
  fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }).map(String),
  fc.string({ unit: 'binary', maxLength: 50 }).map(text => JSON.stringify(text)),
  fc.string({ maxLength: 50 }).map(text => `"${text}"`),
)
const SEPARATORS = fc.constantFrom(',', ', ', ' ,', ',\n  ', ',,', '')
const KEYS = fc.constantFrom('a', 'b', 'c', 'id', '1', 'é', '__proto__', 'constructor', 'prototype', '\\u0061')

/** JSON texts of few keys, so that they resemble each other, and texts that are nearly JSON. */
const { text: TEXTS } = fc.letrec<{ text: string }>(tie => ({
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    SCALARS,
    fc
      .tuple(fc.array(fc.tuple(KEYS, tie('text')), { maxLength: 5 }), SEPARATORS, fc.constantFrom(':', ': '))
      .map(([members, comma, colon]) => `{${members.map(([key, value]) => `"${key}"${colon}${value}`).join(comma)}}`),
    fc.tuple(fc.array(tie('text'), { maxLength: 4 }), SEPARATORS).map(([items, comma]) => `[${items.join(comma)}]`),
  ),
}))

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const outcome = (read: () => unknown): { readonly value?: unknown; readonly error?: string } => {
  try {
    return { value: read() }
  } catch (error) {
    return { error: String(error) }
  }
}

describe('JSON that is read by its shape', () => {
  it('is what JSON.parse gives, for texts like those that were learned', () => {
    let read = 0
    fc.assert(
      fc.property(fc.array(TEXTS, { minLength: 1, maxLength: 6 }), texts => {
        const reader = new ReaderUnderTest(texts.filter(isJson))
        for (const text of texts) if (reader.reads(Buffer.from(text))) read += 1
      }),
      { numRuns: 2_000 },
    )
    expect(read).to.be.greaterThan(1_000)
  })

  it('is what JSON.parse gives, for any JSON, written densely or with spaces', () => {
    let read = 0
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.constantFrom(undefined, 1, '\t'), (values, space) => {
        const texts = values.map(value => JSON.stringify(value, null, space))
        const reader = new ReaderUnderTest(texts)
        for (const text of texts) if (reader.reads(Buffer.from(text))) read += 1
      }),
      { numRuns: 300 },
    )
    expect(read).to.be.greaterThan(300)
  })

  it('is what JSON.parse gives, for bytes cut, changed and put together', () => {
    fc.assert(
      fc.property(TEXTS, TEXTS, fc.nat(), fc.nat(), fc.nat(255), (text, other, at, otherAt, byte) => {
        const [bytes, more] = [Buffer.from(text), Buffer.from(other)]
        const reader = new ReaderUnderTest([text, other].filter(isJson))
        const changed = Buffer.from(bytes)
        changed[at % (bytes.length + 1)] = byte
        reader.reads(changed)
        reader.reads(
          Buffer.concat([bytes.subarray(0, at % (bytes.length + 1)), more.subarray(otherAt % (more.length + 1))]),
        )
      }),
      { numRuns: 2_000 },
    )
  })

  it('is read, or refused, by the serde as without speculation', () => {
    const serde = json()
    const topic = 'speculation'
    fc.assert(
      fc.property(TEXTS, text => {
        const bytes = Buffer.from(text)
        const speculating = outcome(() => serde.deserialize(bytes, { topic, side: 'value', headers: NO_HEADERS }))
        expectIdentical(
          speculating,
          outcome(() => readJson(bytes, undefined)),
        )
      }),
      { numRuns: 3_000 },
    )
  })
})
