import { expect } from 'chai'
import fc from 'fast-check'
import { compileExpression } from '../../src/expressions/compile-expression.ts'
import { ExpressionScope, type VariableName } from '../../src/expressions/scope.ts'
import { civilTimeOf, formatTimestamp, parseTimestampMs, TimestampValue } from '../../src/expressions/time-values.ts'

const VARIABLES: ReadonlySet<VariableName> = new Set(['value', 'key'])

/** A text of CEL beside the value JavaScript computes for it. */
interface Pair {
  readonly source: string
  readonly value: number
}

const leaf: fc.Arbitrary<Pair> = fc.integer({ min: -1_000, max: 1_000 }).map(n => ({
  source: n < 0 ? `(${String(n)})` : String(n),
  value: n,
}))
const { tree } = fc.letrec<{ tree: Pair }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.tuple(fc.constantFrom('+', '-', '*'), tie('tree'), tie('tree')).map(([operator, a, b]) => ({
      source: `(${a.source} ${operator} ${b.source})`,
      value: operator === '+' ? a.value + b.value : operator === '-' ? a.value - b.value : a.value * b.value,
    })),
  ),
}))

function evaluate(source: string, value: unknown): unknown {
  return compileExpression(source, VARIABLES).evaluate(Object.assign(new ExpressionScope(), { value }))
}

describe('expressions', () => {
  it('compute integers exactly, or fail', () => {
    fc.assert(
      fc.property(tree, ({ source, value }) => {
        fc.pre(source.length < 4_000)
        let got: unknown
        try {
          got = evaluate(source, null)
        } catch (error) {
          // An intermediate result may overflow although the last one is small again.
          expect(String(error)).to.contain('would be rounded')
          return
        }
        expect(got === 0 ? 0 : got).to.equal(value === 0 ? 0 : value)
      }),
    )
  })

  it('read own fields of any JSON value, or fail with a message', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, name) => {
        const source = `value[?${JSON.stringify(name)}]`
        fc.pre(/^[ -~]*$/.test(name))
        const own = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
        const expected: unknown = own ? Reflect.get(value, name) : null
        expect(evaluate(source, value)).to.deep.equal(expected)
      }),
    )
  })

  it('never end the process on any text: they compile, or fail with a place inside the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 60 }), source => {
        try {
          compileExpression(source, VARIABLES)
        } catch (error) {
          expect(error).to.have.property('name', 'ExpressionError')
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('agree with the platform about the calendar', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), date => {
        const time = civilTimeOf(date.getTime())
        expect([
          time.year,
          time.month - 1,
          time.day,
          time.hours,
          time.minutes,
          time.seconds,
          time.dayOfWeek,
        ]).to.deep.equal([
          date.getUTCFullYear(),
          date.getUTCMonth(),
          date.getUTCDate(),
          date.getUTCHours(),
          date.getUTCMinutes(),
          date.getUTCSeconds(),
          date.getUTCDay(),
        ])
        expect(parseTimestampMs(formatTimestamp(new TimestampValue(date.getTime())))).to.equal(date.getTime())
      }),
    )
  })
})
