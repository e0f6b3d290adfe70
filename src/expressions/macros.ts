import type { Compiled, Evaluate, Surroundings } from './compiled.ts'
import { fieldOf } from './access.ts'
import { EvaluationError, ExpressionError } from './expression-error.ts'
import { truth } from './operators.ts'
import { textOf, type Node } from './parse.ts'
import type { ExpressionScope } from './scope.ts'
import { isFields, mayBe, typeNameOf, type StaticType } from './static-type.ts'

/** Compiles a part of an expression; handed in, because macros compile their own arguments. */
export type CompilePart = (node: Node, around: Surroundings) => Compiled

/** Steps of macros in one evaluation; a record cannot make an expression run for long. */
export const ITERATIONS_MAX = 100_000

/** Names of the macros on lists and objects. */
export const COLLECTION_MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter'])

/** `has(a.b.c)`: whether the field is there, false as well where something on the way is missing. */
export function compileHas(args: readonly Node[], node: Node, around: Surroundings, compile: CompilePart): Compiled {
  const [selection] = args
  if (args.length !== 1 || selection === undefined || (selection.op !== '.' && selection.op !== '.?')) {
    throw new ExpressionError('has() takes one field, such as has(value.name)', spanOf(node))
  }
  const [ownerNode, name] = selection.args
  const path = [name]
  let root = ownerNode
  while (root.op === '.' || root.op === '.?') {
    path.unshift(root.args[1])
    root = root.args[0]
  }
  for (const step of path) around.askedFor.add(step)
  const owner = compile(root, around)
  if (owner.type === 'headers') {
    return { type: 'bool', evaluate: scope => scope.record.headers.get(name) !== undefined }
  }
  return {
    type: 'bool',
    evaluate: scope => {
      let value = owner.evaluate(scope)
      for (const step of path) {
        value = fieldOf(value, step)
        if (value === undefined) return false
      }
      return true
    },
  }
}

/** `list.all(x, …)`, `exists`, `exists_one`, `map(x, …)`, `map(x, condition, …)`, `filter(x, …)`; objects go by their names. */
export function compileCollectionMacro(
  name: string,
  receiver: Node,
  args: readonly Node[],
  node: Node,
  around: Surroundings,
  compile: CompilePart,
): Compiled {
  const [variable, first, second] = args
  if (variable?.op !== 'id' || first === undefined || args.length > (name === 'map' ? 3 : 2)) {
    throw new ExpressionError(
      `${name}() takes a variable and an expression, such as list.${name}(x, x > 1)`,
      spanOf(node),
    )
  }
  const collection = compile(receiver, around)
  if (!mayBe(collection.type, 'list', 'map')) {
    throw new ExpressionError(`${name}() works on a list or an object, not on ${collection.type}`, spanOf(node))
  }
  around.marks.iterates = true
  const slot = around.locals.size
  const inside = { ...around, locals: new Map(around.locals).set(variable.args, slot) }
  const body = compile(first, inside)
  const then = second === undefined ? undefined : compile(second, inside)
  if ((name !== 'map' || then !== undefined) && !mayBe(body.type, 'bool')) {
    throw new ExpressionError(`${name}() needs a condition here, not ${body.type}`, spanOf(first))
  }
  const each: Each = { items: itemsOf(collection.evaluate, node), slot, body: body.evaluate, bodyNode: first, node }
  return { type: MACRO_TYPES[name] ?? 'list', evaluate: evaluateMacro(name, each, then?.evaluate) }
}

/** `cel.bind(name, value, expression)`. */
export function compileBind(args: readonly Node[], node: Node, around: Surroundings, compile: CompilePart): Compiled {
  const [variable, valueNode, bodyNode] = args
  if (variable?.op !== 'id' || valueNode === undefined || bodyNode === undefined || args.length !== 3) {
    throw new ExpressionError('cel.bind() takes a variable, its value and an expression', spanOf(node))
  }
  const value = compile(valueNode, around).evaluate
  const slot = around.locals.size
  const body = compile(bodyNode, { ...around, locals: new Map(around.locals).set(variable.args, slot) })
  return {
    type: body.type,
    evaluate: scope => {
      scope.locals[slot] = value(scope)
      return body.evaluate(scope)
    },
  }
}

const MACRO_TYPES: Readonly<Record<string, StaticType>> = { all: 'bool', exists: 'bool', exists_one: 'bool' }

interface Each {
  readonly items: (scope: ExpressionScope) => readonly unknown[]
  readonly slot: number
  readonly body: Evaluate
  readonly bodyNode: Node
  readonly node: Node
}

function evaluateMacro(name: string, each: Each, then: Evaluate | undefined): Evaluate {
  switch (name) {
    case 'all':
      return quantifier(each, false)
    case 'exists':
      return quantifier(each, true)
    case 'exists_one':
      return scope =>
        each.items(scope).filter(item => truth(evaluateFor(each, item, scope), each.bodyNode)).length === 1
    case 'filter':
      return scope => each.items(scope).filter(item => truth(evaluateFor(each, item, scope), each.bodyNode))
    default:
      return then === undefined
        ? scope => each.items(scope).map(item => evaluateFor(each, item, scope))
        : scope => mapWhere(each, then, scope)
  }
}

/** `all` and `exists`: one item decides; a failing item counts only if no other decides, as in CEL. */
function quantifier(each: Each, decisive: boolean): Evaluate {
  return scope => {
    let failure: unknown
    for (const item of each.items(scope)) {
      try {
        if (truth(evaluateFor(each, item, scope), each.bodyNode) === decisive) return decisive
      } catch (error) {
        if (error instanceof EvaluationError && !error.absorbable) throw error
        failure ??= error
      }
    }
    if (failure !== undefined) throw asError(failure)
    return !decisive
  }
}

function mapWhere(each: Each, then: Evaluate, scope: ExpressionScope): unknown[] {
  const results: unknown[] = []
  for (const item of each.items(scope)) {
    if (!truth(evaluateFor(each, item, scope), each.bodyNode)) continue
    scope.locals[each.slot] = item
    results.push(then(scope))
  }
  return results
}

function evaluateFor(each: Each, item: unknown, scope: ExpressionScope): unknown {
  if (scope.iterationsLeft-- <= 0) {
    throw new EvaluationError(textOf(each.node), `took more than ${String(ITERATIONS_MAX)} steps`, false)
  }
  scope.locals[each.slot] = item
  return each.body(scope)
}

function itemsOf(collection: Evaluate, node: Node): (scope: ExpressionScope) => readonly unknown[] {
  return scope => {
    const value = collection(scope)
    if (Array.isArray(value)) return value as readonly unknown[]
    if (isFields(value)) return Object.keys(value)
    throw new EvaluationError(textOf(node), `a list or an object is needed, got ${typeNameOf(value)}`)
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

function spanOf(node: Node): { start: number; end: number } {
  return { start: node.start, end: node.end }
}
