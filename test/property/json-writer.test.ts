import { expect } from 'chai'
import fc from 'fast-check'
import { JsonWriter } from '../../src/serdes/json-writer.ts'

/** What a step may give: what JSON has, and what it writes otherwise, leaves out or refuses. */
const VALUES = fc.anything({
  key: fc.oneof(
    fc.constantFrom('id', 'a', 'b', '1', 'toJSON', '__proto__', ''),
    fc.string({ unit: 'binary', maxLength: 5 }),
  ),
  values: [
    fc.string({ unit: 'binary' }),
    fc.string({ maxLength: 400 }),
    fc.double(),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(
      0,
      -0,
      99_999_999,
      100_000_000,
      -100_000_001,
      2 ** 53,
      1e21,
      1e-7,
      '\ud800',
      '\udfff',
      'é',
      '\u2028',
    ),
    fc.boolean(),
    fc.constantFrom(null, undefined),
  ],
  withDate: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
  withBoxedValues: true,
})

describe('JSON that is written straight into bytes', () => {
  it('is byte for byte what JSON.stringify gives', () => {
    let count = 0
    let run = 0
    let writer = new JsonWriter()
    fc.assert(
      fc.property(fc.array(VALUES, { minLength: 1, maxLength: 10 }), values => {
        // A few values each: it would give up where most are not for it.
        if ((run += 1) % 5 === 0) writer = new JsonWriter()
        for (const value of values) {
          const bytes = writer.write(value)
          if (bytes === undefined) continue
          count += 1
          const text: unknown = JSON.stringify(value)
          if (bytes.toString('utf8') !== text || !bytes.equals(Buffer.from(text))) {
            expect.fail(`${bytes.toString('utf8')} is not ${String(text)}`)
          }
        }
      }),
      { numRuns: 2_000 },
    )
    expect(count).to.be.greaterThan(1_000)
  })
})
