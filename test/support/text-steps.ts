import { JOIN_VARIABLES, joiner, mapper } from '../../src/config/step-functions.ts'
import { compileExpression } from '../../src/expressions/compile-expression.ts'
import { RECORD_VARIABLES } from '../../src/expressions/scope.ts'

/** A step as YAML makes it of an expression that gives text. */
export function textStep(expression: string): (value: string, key: string) => string {
  return givingText(mapper(compileExpression(expression, RECORD_VARIABLES)))
}

/** A join's function as YAML makes it of an expression that gives text. */
export function textJoiner(expression: string): (left: string, right: string | null) => string {
  return givingText(joiner(compileExpression(expression, JOIN_VARIABLES)))
}

/** The very function: what is known of it is known by its identity. */
function givingText(step: object): (first: string, second: string | null) => string
function givingText(step: unknown): unknown {
  return step
}
