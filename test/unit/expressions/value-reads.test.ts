import { expect } from 'chai'
import { compileExpression } from '../../../src/expressions/compile-expression.ts'
import { literalOf, templateOf } from '../../../src/expressions/expression.ts'
import type { VariableName } from '../../../src/expressions/scope.ts'

const VARIABLES: ReadonlySet<VariableName> = new Set(['key', 'value', 'state', 'timestamp'])

/** The fields that an expression is known to read of the value, or `all`. */
const readBy = (...texts: readonly string[]): readonly string[] | 'all' => {
  const parts = texts.map(text => compileExpression(text, VARIABLES))
  const { valueReads } = templateOf([...parts, literalOf('x')])
  return valueReads === undefined ? 'all' : [...valueReads].toSorted()
}

describe('the fields of the value that an expression reads', () => {
  it('are those it names, in each way to name one', () => {
    expect(readBy('value.a == "x" && value.?b != null')).to.deep.equal(['a', 'b'])
    expect(readBy('value["a"] + value[?"b"].c', 'value.d.e.f[value.i]')).to.deep.equal(['a', 'b', 'd', 'i'])
    expect(readBy('has(value.a.b) ? string(value.n) : value.t.size() > 1')).to.deep.equal(['a', 'n', 't'])
    expect(readBy('value.list.exists(x, x.value > key)', '[value.a, {"b": value.b}]')).to.deep.equal(['a', 'b', 'list'])
    expect(readBy('-value.a', '!value.b', 'value.c in ["x"]', 'cel.bind(v, value.d, v + v)')).to.deep.equal([
      'a',
      'b',
      'c',
      'd',
    ])
  })

  it('are none where the value is not named', () => {
    expect(readBy('key', 'timestamp + 1', 'state.value', '"value"')).to.deep.equal([])
  })

  it('may be all of them where the value stands for itself, or a name is not known before', () => {
    for (const text of [
      'value',
      'value == null',
      'value[key]',
      'value["a" + "b"]',
      '"a" in value',
      'size(value)',
      'value.size()',
      'value.map(x, x)',
      '[value]',
      '{"v": value}',
      '{value: 1}',
      'value.a > 1 ? value : null',
      'key.exists(value, value.a > 1)',
      'cel.bind(x, value, x.a)',
      'cel.bind(value, key, value.a)',
    ]) {
      expect(readBy(text, 'value.a'), text).to.equal('all')
    }
  })
})
