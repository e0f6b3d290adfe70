import { TextInPlace } from '../serdes/text-in-place.ts'
import { TextSum } from '../serdes/text-sum.ts'
import type { Evaluate } from './compiled.ts'
import type { Node } from './parse.ts'
import type { ExpressionScope } from './scope.ts'

/** A variable of a sum, which may be a text. */
type SumVariable = 'key' | 'value' | 'left' | 'right'

/** A part of a sum. */
export type SumPart = { readonly text: string } | { readonly variable: SumVariable }

const VARIABLES: ReadonlyMap<unknown, (scope: ExpressionScope) => unknown> = new Map<
  SumVariable,
  (scope: ExpressionScope) => unknown
>([
  ['key', scope => scope.key],
  ['value', scope => scope.value],
  ['left', scope => scope.left],
  ['right', scope => scope.right],
])

/** The parts of `left + "-" + right` and its like; `undefined` for an expression that has anything else in it, or is no sum. */
export function sumOf(node: Node): readonly SumPart[] | undefined {
  const parts: SumPart[] = []
  return node.op === '+' && collect(node, parts) ? parts : undefined
}

/** The sum of the parts, where all are texts, as a draft that is good until the next one; else what `otherwise` gives. */
export function draftedSum(sum: readonly SumPart[], otherwise: Evaluate): Evaluate {
  const draft = new TextSum(sum.length)
  const { parts } = draft
  const variables = sum.map((part, at) => {
    if ('variable' in part) return VARIABLES.get(part.variable)
    parts[at] = part.text
    return undefined
  })
  return scope => {
    for (let at = 0; at < variables.length; at += 1) {
      const variable = variables[at]
      if (variable === undefined) continue
      const value = variable(scope)
      if (typeof value !== 'string' && !(value instanceof TextInPlace)) return otherwise(scope)
      parts[at] = value
    }
    return draft
  }
}

/** As `evaluate`, of texts that may be in place: they become strings first. */
export function decodingText(evaluate: Evaluate): Evaluate {
  return scope => {
    if (scope.value instanceof TextInPlace) scope.value = scope.value.toString()
    if (scope.left instanceof TextInPlace) scope.left = scope.left.toString()
    return evaluate(scope)
  }
}

function collect(node: Node, parts: SumPart[]): boolean {
  if (node.op === '+') return collect(node.args[0], parts) && collect(node.args[1], parts)
  if (node.op === 'value' && typeof node.args === 'string') parts.push({ text: node.args })
  else if (node.op === 'id' && isVariable(node.args)) parts.push({ variable: node.args })
  else return false
  return true
}

function isVariable(name: string): name is SumVariable {
  return VARIABLES.has(name)
}
