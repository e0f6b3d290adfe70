import type { RecordHeaders } from '../model/headers.ts'
import { compileNode } from './compile.ts'
import type { Evaluate } from './compiled.ts'
import type { Expression } from './expression.ts'
import { ITERATIONS_MAX } from './macros.ts'
import { parseExpression } from './parse.ts'
import type { KnownVariables, VariableName } from './scope.ts'
import { formatTimeSpan, formatTimestamp, isTimeSpan, isTimestamp } from './time-values.ts'
import { sumOf } from './text-sums.ts'
import { fieldOfValue, valueReads } from './value-reads.ts'

/**
 * Compiles a CEL text.
 *
 * @param variables - those the step gives
 * @param known - what is known of them
 * @throws ExpressionError with the place of the first mistake
 */
export function compileExpression(
  source: string,
  variables: ReadonlySet<VariableName>,
  known: KnownVariables = new Map(),
): Expression {
  const marks = { special: false, iterates: false }
  const reads = new Set<VariableName>()
  const node = parseExpression(source)
  const compiled = compileNode(node, {
    variables,
    known,
    locals: new Map(),
    reads,
    marks,
    askedFor: new Set(),
  })
  const inner = compiled.evaluate
  const evaluateRaw: Evaluate = marks.iterates
    ? scope => {
        scope.iterationsLeft = ITERATIONS_MAX
        return inner(scope)
      }
    : inner
  return {
    type: compiled.type,
    fields: compiled.fields,
    hint: compiled.hint,
    reads,
    valueReads: valueReads(node),
    valueField: fieldOfValue(node),
    sum: sumOf(node),
    evaluateRaw,
    evaluate: marks.special ? scope => plain(evaluateRaw(scope)) : evaluateRaw,
  }
}

/** Types JSON does not have, as text; so nothing of the expression language leaves it. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if (isTimestamp(value)) return formatTimestamp(value)
  if (isTimeSpan(value)) return formatTimeSpan(value)
  if (Array.isArray(value)) return value.map(plain)
  if (isHeaders(value)) return Object.fromEntries(Array.from(value, ([name]) => [name, value.getString(name) ?? null]))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

function isHeaders(value: object): value is RecordHeaders {
  return 'getString' in value && typeof value.getString === 'function'
}
