import { expect } from 'chai'
import { headersOf } from '../../../src/model/headers.ts'
import { ExpressionError } from '../../../src/expressions/expression-error.ts'
import { compileExpression } from '../../../src/expressions/compile-expression.ts'
import { literalOf, templateOf } from '../../../src/expressions/expression.ts'
import { ExpressionScope, VARIABLE_TYPES, type VariableName } from '../../../src/expressions/scope.ts'

const ALL: ReadonlySet<VariableName> = new Set(Object.keys(VARIABLE_TYPES) as VariableName[])

function evaluate(source: string, given: Partial<ExpressionScope> = {}): unknown {
  return compileExpression(source, ALL).evaluate(Object.assign(new ExpressionScope(), given))
}

function compileError(source: string, variables = ALL): ExpressionError {
  try {
    compileExpression(source, variables)
  } catch (error) {
    if (error instanceof ExpressionError) return error
    throw error
  }
  throw new Error(`${source} compiled`)
}

describe('numbers in expressions', () => {
  it('mix freely, whether written as whole numbers, as fractions, or read from JSON', () => {
    const value: unknown = JSON.parse('{"n":3,"x":1.5}')
    expect(evaluate('value.n + 1', { value })).to.equal(4)
    expect(evaluate('1 + value.n * 2.5 - value.x', { value })).to.equal(7)
    expect(evaluate('value.n == 3.0 && value.n > 2 && value.n <= 3', { value })).to.equal(true)
    expect(evaluate('value.n % 2', { value })).to.equal(1)
    expect(evaluate('7 / 2')).to.equal(3.5)
    expect(evaluate('-value.n', { value })).to.equal(-3)
    expect(evaluate('1u + 0x10')).to.equal(17)
  })

  it('print integers as integers', () => {
    expect(evaluate('string(value.n) + "/" + string(2.0) + "/" + string(1.5)', { value: { n: 10 } })).to.equal(
      '10/2/1.5',
    )
    expect(JSON.stringify(evaluate('{"n": 1 + 1, "m": 2.0 * 3}'))).to.equal('{"n":2,"m":6}')
  })

  it('stay exact to 2^53 and fail beyond, never rounded', () => {
    expect(evaluate('value + 1', { value: Number.MAX_SAFE_INTEGER - 1 })).to.equal(Number.MAX_SAFE_INTEGER)
    expect(() => evaluate('value + 1', { value: Number.MAX_SAFE_INTEGER })).to.throw(
      'value + 1: the integer result is beyond',
    )
    expect(() => evaluate('value * value', { value: 2 ** 30 })).to.throw('would be rounded')
    expect(compileError('9007199254740993').message).to.contain('would be rounded')
    expect(evaluate('value * 2.0', { value: 1e300 })).to.equal(2e300)
  })

  it('mix bigints with whole numbers and stay exact to 64 bits', () => {
    expect(evaluate('value + 1', { value: 2n ** 60n })).to.equal(2n ** 60n + 1n)
    expect(evaluate('value == 5 && value < 6', { value: 5n })).to.equal(true)
    expect(() => evaluate('value + 1', { value: 2n ** 63n - 1n })).to.throw('beyond 64 bits')
    expect(() => evaluate('value + 0.5', { value: 1n })).to.throw('does not mix with the fraction 0.5')
  })

  it('fail on division by zero', () => {
    expect(() => evaluate('1 / value', { value: 0 })).to.throw('1 / value: division by zero')
    expect(() => evaluate('1 % value', { value: 0 })).to.throw('division by zero')
  })
})

describe('fields in expressions', () => {
  it('fail where there are none, and quote the place', () => {
    expect(() => evaluate('value.a.b', { value: { a: {} } })).to.throw('value.a.b: there is no field "b"')
    expect(() => evaluate('value.a', { value: null })).to.throw('value.a: null has no field "a"')
    expect(() => evaluate('value.a', { value: 5 })).to.throw('number has no field "a"')
    expect(() => evaluate('value.list[3]', { value: { list: [1] } })).to.throw('the list has 1 items, no item 3')
  })

  it('are null after .? where there are none, and so is the rest of the chain', () => {
    expect(evaluate('right.?name', { right: null })).to.equal(null)
    expect(evaluate('value.?a', { value: {} })).to.equal(null)
    expect(evaluate('value.?a.b.c', { value: {} })).to.equal(null)
    expect(evaluate('value.?a.b[0]', { value: { a: { b: [7] } } })).to.equal(7)
    expect(evaluate('value.list[?3]', { value: { list: [1] } })).to.equal(null)
    expect(evaluate('value.?a.orValue(5)', { value: {} })).to.equal(5)
    expect(evaluate('value.?a.hasValue()', { value: { a: 1 } })).to.equal(true)
  })

  it('never reach a prototype', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'length']) {
      expect(() => evaluate(`value["${name}"]`, { value: {} }), name).to.throw('there is no field')
      expect(evaluate(`value[?"${name}"]`, { value: {} }), name).to.equal(null)
      expect(evaluate(`"${name}" in value`, { value: {} }), name).to.equal(false)
    }
    expect(() => evaluate('value.constructor', { value: {} })).to.throw('there is no field "constructor"')
    expect(() => evaluate('{"__proto__": {"admin": true}}')).to.throw('"__proto__" is refused')
    expect(evaluate('has(value.constructor)', { value: {} })).to.equal(false)
    expect(() => evaluate('value.length', { value: [1] })).to.throw('list has no field')
  })

  it('are looked for by has() without failing on what is missing on the way', () => {
    expect(evaluate('has(value.a.b)', { value: {} })).to.equal(false)
    expect(evaluate('has(value.a.b)', { value: { a: { b: null } } })).to.equal(true)
  })

  it('are read from headers as text', () => {
    const record = { timestamp: 5, headers: headersOf([['trace', Buffer.from('t1')]]), metadata: undefined }
    expect(evaluate('headers.trace + headers["trace"]', { record })).to.equal('t1t1')
    expect(evaluate('headers.?other', { record })).to.equal(null)
    expect(evaluate('has(headers.other) || "trace" in headers', { record })).to.equal(true)
    expect(() => evaluate('headers.other', { record })).to.throw('no such header')
    expect(evaluate('headers', { record })).to.deep.equal({ trace: 't1' })
  })
})

describe('conditions in expressions', () => {
  it('pass over a failing side where the other decides', () => {
    expect(evaluate('value.a == 1 || true', { value: {} })).to.equal(true)
    expect(evaluate('value.a == 1 && false', { value: {} })).to.equal(false)
    expect(() => evaluate('value.a == 1 || false', { value: {} })).to.throw('there is no field "a"')
  })

  it('take true and false only', () => {
    expect(() => evaluate('value ? 1 : 2', { value: 1 })).to.throw('true or false, got number')
    expect(compileError('!"a"').message).to.contain('does not work on string')
    expect(compileError('1 && true').message).to.contain('true or false, not number')
  })

  it('compare deeply, and values of different types are not equal', () => {
    expect(evaluate('value == {"a": [1, 2.0]}', { value: { a: [1, 2] } })).to.equal(true)
    expect(evaluate('"1" == value', { value: 1 })).to.equal(false)
    expect(evaluate('value == null', { value: null })).to.equal(true)
    expect(evaluate('2 in value', { value: [1, 2] })).to.equal(true)
    expect(() => evaluate('value < "a"', { value: 1 })).to.throw('"<" does not work on number and string')
  })
})

describe('functions of expressions', () => {
  const cases: readonly (readonly [source: string, result: unknown])[] = [
    ['"Ab,C".lowerAscii().split(",")', ['ab', 'c']],
    ['"ÄB".lowerAscii()', 'Äb'],
    ['["a", "b"].join("-").upperAscii()', 'A-B'],
    ['" x ".trim().size()', 1],
    ['"😀a".size() + "😀a".indexOf("a")', 3],
    ['"😀ab".substring(1, 2) + "abc".charAt(2) + "ab".reverse()', 'acba'],
    ['"a.b.c".replace(".", "") + "aaa".replace("a", "b", 2)', 'abcbba'],
    ['"a,b,c".split(",", 2)', ['a', 'b,c']],
    ['"hello".lastIndexOf("l") + "hello".indexOf("l", 3)', 6],
    ['"abc".startsWith("a") && "abc".endsWith("c") && "abc".contains("b")', true],
    ['"order-17".matches("^order-[0-9]+$")', true],
    ['[1, 2, 3].map(x, x > 1, x * 2)', [4, 6]],
    ['[1, 2, 3].filter(x, x % 2 == 1).map(x, [10].map(y, x + y))', [[11], [13]]],
    ['[1, 2].all(x, x > 0) && [1, 2].exists(x, x == 2) && [1, 2].exists_one(x, x == 2)', true],
    ['{"a": 1, "b": 2}.map(k, k)', ['a', 'b']],
    ['cel.bind(x, 2, x * x)', 4],
    ['int("42") + int(2.9) + int(-2.9) + double("0.5")', 42.5],
    ['math.greatest(1, 2.5) + math.least(1, 2) + math.abs(-1) + math.round(2.5)', 7.5],
    ['[3, 1, 2].sort() == [1, 2, 3] && [1, 1.0, 2].distinct() == [1, 2]', true],
    ['[1, 2].sum() + size({"a": 1})', 4],
    ['type(1) == int && type("") == string && type(null) == null_type && type(1.5) == double', true],
    ['string(timestamp("2024-02-29T23:59:59.5+01:00"))', '2024-02-29T22:59:59.500Z'],
    ['timestamp("2024-02-29T12:00:00Z").getDayOfYear() + timestamp("2024-02-29T12:00:00Z").getDayOfWeek()', 63],
    ['timestamp("2024-01-01T00:00:00Z") + duration("36h")', '2024-01-02T12:00:00Z'],
    ['(timestamp("2024-01-02T00:00:00Z") - timestamp("2024-01-01T00:00:00Z")).getHours()', 24],
    ['b"ab".hex() + bytes("ab").base64() + string(b"ab")', '6162YWI=ab'],
  ]
  for (const [source, result] of cases) {
    it(`compute ${source}`, () => expect(evaluate(source)).to.deep.equal(result))
  }

  it('fail with the place and the reason', () => {
    expect(() => evaluate('int(value)', { value: 'x' })).to.throw('int(value): int() takes a number')
    expect(() => evaluate('value.lowerAscii()', { value: 1 })).to.throw('value.lowerAscii(): does not take (number)')
    expect(() => evaluate('string(value)', { value: null })).to.throw('got null')
  })

  it('match regular expressions in linear time', () => {
    const startedAt = process.hrtime.bigint()
    expect(evaluate('value.matches("^(a+)+$")', { value: `${'a'.repeat(5_000)}!` })).to.equal(false)
    expect(Number(process.hrtime.bigint() - startedAt) / 1e6).to.be.lessThan(2_000)
    expect(() => evaluate('"a".matches("(?<!a)b")')).to.throw('is no regular expression of RE2')
  })

  it('take a bounded number of steps', () => {
    const value = Array.from({ length: 1_000 }, (_, index) => index)
    expect(() => evaluate('value.all(x, value.all(y, value.all(z, true)))', { value })).to.throw(
      'took more than 100000 steps',
    )
    expect(evaluate('value.all(x, x >= 0)', { value })).to.equal(true)
  })
})

describe('the check of expressions at load', () => {
  it('names the place and the nearest variable', () => {
    const error = compileError('key == "a" && valeu.x > 1', new Set<VariableName>(['key', 'value']))
    expect(error.message).to.equal('unknown name "valeu"')
    expect(error.span).to.deep.equal({ start: 14, end: 19 })
    expect(error.hint).to.contain('did you mean "value"?')
  })

  it('says that a text is quoted', () => {
    expect(compileError('paid', new Set<VariableName>(['value'])).hint).to.contain(`a text is quoted: "'paid'"`)
  })

  it('knows which variables a place has', () => {
    expect(compileError('state + 1', new Set<VariableName>(['value'])).message).to.equal(
      '"state" is not known in this place',
    )
  })

  it('finds what can never work', () => {
    expect(compileError('"n" + 1').message).to.contain('write string(x) to join texts')
    expect(compileError('"a".foo()').message).to.equal('there is no method "foo"')
    expect(compileError('foo(1)').message).to.equal('there is no function "foo"')
    expect(compileError('timestamp.year').message).to.equal('a number has no fields')
    expect(compileError('window.size').message).to.contain('"start" and "end"')
    expect(compileError('has(value)').message).to.contain('has() takes one field')
    expect(compileError('"a".split(1)').message).to.contain('string.split(string) → list')
  })

  it('names the place of a syntax error', () => {
    expect(compileError('value.a = 1').span.start).to.equal(8)
    expect(compileError('value.a = 1').hint).to.equal('values are compared with ==')
    expect(compileError('value.a === 1').hint).to.contain('== and !=')
    expect(compileError('value.a and value.b').hint).to.equal('"and" is written &&')
    expect(compileError('not value.a').hint).to.equal('"not" is written !')
    expect(compileError('value == "x').hint).to.equal(undefined)
    expect(compileError('value +').message).to.contain('unexpected token')
    expect(compileError('').message).to.contain('empty')
  })

  it('refuses expressions without end', () => {
    expect(compileError('!'.repeat(9_000)).message).to.contain('longer than')
    expect(compileError('('.repeat(200) + '1' + ')'.repeat(200)).message).to.contain('maxDepth')
  })

  it('tells which variables are read', () => {
    expect([...compileExpression('value.a + size(key)', ALL).reads]).to.have.members(['value', 'key'])
    expect([...compileExpression('has(headers.x) && [1].all(value, value > 0)', ALL).reads]).to.deep.equal(['headers'])
  })
})

describe('templates', () => {
  it('are objects and lists of expressions', () => {
    const template = templateOf({
      sum: compileExpression('state.sum + value', ALL),
      fixed: literalOf('x'),
      list: templateOf([compileExpression('value', ALL)]),
    })
    const scope = Object.assign(new ExpressionScope(), { state: { sum: 1 }, value: 2 })
    expect(template.evaluate(scope)).to.deep.equal({ sum: 3, fixed: 'x', list: [2] })
    expect([...template.reads]).to.have.members(['state', 'value'])
  })
})
