import type { Evaluate } from './compiled.ts'
import type { ExpressionScope, KnownVariables, VariableName } from './scope.ts'
import type { KnownValue } from './static-type.ts'
import type { SumPart } from './text-sums.ts'
import { allValueReads, NO_FIELDS } from './value-reads.ts'

/** A compiled expression: a pure function of the scope it is given. */
export interface Expression extends KnownValue {
  /** The step variables it reads: what it does not read need not be decoded. */
  readonly reads: ReadonlySet<VariableName>
  /** The fields of `value` that it reads; `undefined` when it may read all of it. */
  readonly valueReads: ReadonlySet<string> | undefined
  /** The field of `value` that it is, with nothing around it. */
  readonly valueField?: string | undefined
  /** The texts and variables that it is the sum of, where it is nothing else. */
  readonly sum?: readonly SumPart[] | undefined
  /** The members it is made of, where it is an object of expressions. */
  readonly template?: Template
  /** Its value, of JSON's types plus bigint and bytes; timestamps and durations have become text. @throws EvaluationError */
  readonly evaluate: Evaluate
  /** As `evaluate`, but a timestamp stays one. */
  readonly evaluateRaw: Evaluate
}

/** An object whose members are expressions. */
export interface Template {
  readonly names: readonly string[]
  readonly parts: readonly Expression[]
}

/** Compiles a CEL text, as `compileExpression` does. */
export type CompileText = (source: string, variables: ReadonlySet<VariableName>, known?: KnownVariables) => Expression

/** A template: an object or list whose leaves are expressions. */
export function templateOf(members: Readonly<Record<string, Expression>> | readonly Expression[]): Expression {
  const list: readonly Expression[] = Array.isArray(members) ? members : Object.values(members)
  const parts = list.map(member => member.evaluate)
  const reads = new Set(list.flatMap(member => [...member.reads]))
  const valueReads = allValueReads(list.map(member => member.valueReads))
  if (Array.isArray(members)) {
    const evaluate: Evaluate = scope => parts.map(part => part(scope))
    return { type: 'list', reads, valueReads, evaluate, evaluateRaw: evaluate }
  }
  const names = Object.keys(members)
  const evaluate: Evaluate = scope => fieldsOf(names, parts, scope)
  return {
    type: 'map',
    template: { names, parts: list },
    fields: new Map(Object.entries(members)),
    reads,
    valueReads,
    evaluate,
    evaluateRaw: evaluate,
  }
}

/** A value written as it is: `{ literal: paid }`. */
export function literalOf(value: unknown): Expression {
  const evaluate: Evaluate = () => value
  return { type: 'dyn', reads: new Set(), valueReads: NO_FIELDS, evaluate, evaluateRaw: evaluate }
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
