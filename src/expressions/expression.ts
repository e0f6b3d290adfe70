import type { RecordHeaders } from '../model/headers.ts'
import { compileNode } from './compile.ts'
import type { Evaluate } from './compiled.ts'
import { ITERATIONS_MAX } from './macros.ts'
import { parseExpression } from './parse.ts'
import type { ExpressionScope, KnownVariables, VariableName } from './scope.ts'
import type { KnownValue } from './static-type.ts'
import { formatTimeSpan, formatTimestamp, isTimeSpan, isTimestamp } from './time-values.ts'

/** A compiled expression: a pure function of the scope it is given. */
export interface Expression extends KnownValue {
  /** The step variables it reads: what it does not read need not be decoded. */
  readonly reads: ReadonlySet<VariableName>
  /** Its value, of JSON's types plus bigint and bytes; timestamps and durations have become text. @throws EvaluationError */
  readonly evaluate: Evaluate
  /** As `evaluate`, but a timestamp stays one. */
  readonly evaluateRaw: Evaluate
}

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
  const compiled = compileNode(parseExpression(source), {
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
    evaluateRaw,
    evaluate: marks.special ? scope => plain(evaluateRaw(scope)) : evaluateRaw,
  }
}

/** A template: an object or list whose leaves are expressions. */
export function templateOf(members: Readonly<Record<string, Expression>> | readonly Expression[]): Expression {
  const list: readonly Expression[] = Array.isArray(members) ? members : Object.values(members)
  const parts = list.map(member => member.evaluate)
  const reads = new Set(list.flatMap(member => [...member.reads]))
  if (Array.isArray(members)) {
    const evaluate: Evaluate = scope => parts.map(part => part(scope))
    return { type: 'list', reads, evaluate, evaluateRaw: evaluate }
  }
  const names = Object.keys(members)
  const evaluate: Evaluate = scope => fieldsOf(names, parts, scope)
  return { type: 'map', fields: new Map(Object.entries(members)), reads, evaluate, evaluateRaw: evaluate }
}

/** A value written as it is: `{ literal: paid }`. */
export function literalOf(value: unknown): Expression {
  const evaluate: Evaluate = () => value
  return { type: 'dyn', reads: new Set(), evaluate, evaluateRaw: evaluate }
}

function fieldsOf(
  names: readonly string[],
  parts: readonly Evaluate[],
  scope: ExpressionScope,
): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (let at = 0; at < names.length; at++) {
    const [name, part] = [names[at], parts[at]]
    if (name !== undefined && part !== undefined) result[name] = part(scope)
  }
  return result
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
