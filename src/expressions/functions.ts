import { reasonOf } from '../model/errors.ts'
import type { Compiled, Evaluate } from './compiled.ts'
import { EvaluationError, ExpressionError } from './expression-error.ts'
import { signatureOf, type FunctionBody, type FunctionDefinition } from './function-table.ts'
import { textOf, type Node } from './parse.ts'
import { mayBe, typeNameOf, type StaticType } from './static-type.ts'
import { STRING_FUNCTIONS } from './string-functions.ts'
import { TIME_FUNCTIONS } from './time-functions.ts'
import { VALUE_FUNCTIONS } from './value-functions.ts'

/** Every function of the expression language. */
export const FUNCTIONS: readonly FunctionDefinition[] = [...STRING_FUNCTIONS, ...VALUE_FUNCTIONS, ...TIME_FUNCTIONS]

/**
 * A call, its overload chosen by what is known of the arguments and, where nothing is known, per record.
 *
 * @throws ExpressionError when no overload takes them
 */
export function compileCall(
  form: FunctionDefinition['form'],
  name: string,
  args: readonly Compiled[],
  node: Node,
): Compiled {
  const named = FUNCTIONS.filter(definition => definition.form === form && definition.name === name)
  if (named.length === 0)
    throw new ExpressionError(`there is no ${form === 'method' ? 'method' : 'function'} "${name}"`, spanOf(node))
  const fitting = named.filter(
    ({ parameters }) =>
      parameters.length === args.length &&
      parameters.every((type, at) => type === 'dyn' || mayBe(args[at]?.type ?? 'dyn', type)),
  )
  const [first] = fitting
  if (first === undefined) {
    const got = args.map(arg => arg.type).join(', ')
    throw new ExpressionError(`"${name}" does not take (${got}): ${named.map(signatureOf).join('; ')}`, spanOf(node))
  }
  const returns = fitting.every(({ returns: type }) => type === first.returns) ? first.returns : 'dyn'
  return { type: returns, evaluate: evaluateCall(fitting, args, node) }
}

/** Whether a method of that name exists, whatever its arguments. */
export function isMethod(name: string): boolean {
  return FUNCTIONS.some(definition => definition.form === 'method' && definition.name === name)
}

function evaluateCall(overloads: readonly FunctionDefinition[], args: readonly Compiled[], node: Node): Evaluate {
  const [a, b, c, d] = [argument(args, 0), argument(args, 1), argument(args, 2), argument(args, 3)]
  return scope => {
    const [w, x, y, z] = [a(scope), b(scope), c(scope), d(scope)]
    for (const { parameters, body } of overloads) {
      if (takes(parameters[0], w) && takes(parameters[1], x) && takes(parameters[2], y) && takes(parameters[3], z)) {
        return called(body, [w, x, y, z], node)
      }
    }
    const got = [w, x, y, z].slice(0, args.length).map(typeNameOf).join(', ')
    throw new EvaluationError(textOf(node), `does not take (${got}): ${overloads.map(signatureOf).join('; ')}`)
  }
}

function called(body: FunctionBody, [w, x, y, z]: readonly unknown[], node: Node): unknown {
  try {
    return body(w, x, y, z)
  } catch (error) {
    throw new EvaluationError(textOf(node), reasonOf(error))
  }
}

function argument(args: readonly Compiled[], at: number): Evaluate {
  return args[at]?.evaluate ?? nothing
}

function nothing(): undefined {
  return undefined
}

function takes(type: StaticType | undefined, value: unknown): boolean {
  return type === undefined || type === 'dyn' || type === typeNameOf(value)
}

function spanOf(node: Node): { start: number; end: number } {
  return { start: node.start, end: node.end }
}
