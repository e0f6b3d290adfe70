import { nearestName } from '../model/nearest-name.ts'
import { compileField, compileIndex, compileOptionalField } from './access.ts'
import { constantOf, type Compiled, type Evaluate, type Surroundings } from './compiled.ts'
import { EvaluationError, ExpressionError } from './expression-error.ts'
import { compileCall, isMethod } from './functions.ts'
import { COLLECTION_MACROS, compileBind, compileCollectionMacro, compileHas } from './macros.ts'
import {
  compileArithmetic,
  compileEquality,
  compileMembership,
  compileMinus,
  compileNot,
  compileOrder,
  truth,
} from './operators.ts'
import { textOf, type Node } from './parse.ts'
import { VARIABLE_TYPES, type ExpressionScope, type VariableName } from './scope.ts'
import { mayBe, typeNameOf, UNKNOWN } from './static-type.ts'

/** Names of types, as `type(x) == string` compares them. */
const TYPE_NAMES: ReadonlySet<string> = new Set([
  'int',
  'double',
  'string',
  'bool',
  'bytes',
  'list',
  'map',
  'null_type',
])

/**
 * Compiles a node and all below it into functions of the scope.
 *
 * @throws ExpressionError at the first part that can never work
 */
export function compileNode(node: Node, around: Surroundings): Compiled {
  switch (node.op) {
    case 'value':
      return compileLiteral(node.args, node)
    case 'id':
      return compileIdentifier(node.args, node, around)
    case '.':
      return compileField(compileNode(node.args[0], around), node.args[1], node, around.askedFor)
    case '.?':
      return compileOptionalField(compileNode(node.args[0], around), node.args[1], node)
    case '[]':
      return compileIndex(compileNode(node.args[0], around), compileNode(node.args[1], around), node, false)
    case '[?]':
      return compileIndex(compileNode(node.args[0], around), compileNode(node.args[1], around), node, true)
    case 'call':
      return compileGlobalCall(node.args[0], node.args[1], node, around)
    case 'rcall':
      return compileMethodCall(node.args[0], node.args[1], node.args[2], node, around)
    case 'list':
      return compileList(node.args, around)
    case 'map':
      return compileMap(node.args, node, around)
    case '?:':
      return compileTernary(node.args, around)
    case '||':
      return compileLogic(node.args, true, around)
    case '&&':
      return compileLogic(node.args, false, around)
    case '!_':
      return compileNot(compileNode(node.args, around), node)
    case '-_':
      return compileMinus(compileNode(node.args, around), node)
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return compileArithmetic(node.op, compileNode(node.args[0], around), compileNode(node.args[1], around), node)
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compileOrder(node.op, compileNode(node.args[0], around), compileNode(node.args[1], around), node)
    case '==':
    case '!=':
      return compileEquality(node.op, compileNode(node.args[0], around), compileNode(node.args[1], around))
    case 'in':
      return compileMembership(compileNode(node.args[0], around), compileNode(node.args[1], around), node)
  }
}

function compileLiteral(literal: unknown, node: Node): Compiled {
  if (typeof literal === 'string') return constantOf(literal, 'string')
  if (typeof literal === 'boolean') return constantOf(literal, 'bool')
  if (literal === null) return constantOf(null, 'null')
  if (literal instanceof Uint8Array) return constantOf(literal, 'bytes')
  const number = Number(literal)
  if (typeof literal !== 'number' && !Number.isSafeInteger(number)) {
    throw new ExpressionError('the integer is beyond ±(2^53 - 1) and would be rounded', spanOf(node))
  }
  return constantOf(number, 'number')
}

function compileIdentifier(name: string, node: Node, around: Surroundings): Compiled {
  const slot = around.locals.get(name)
  if (slot !== undefined) return { type: 'dyn', evaluate: scope => scope.locals[slot] }
  if (isVariable(name) && around.variables.has(name)) {
    around.reads.add(name)
    if (name === 'headers' || name === 'window') around.marks.special = true
    const { type, fields, hint } = around.known.get(name) ?? UNKNOWN
    return { type: type === 'dyn' ? VARIABLE_TYPES[name] : type, fields, hint, evaluate: READERS[name] }
  }
  if (TYPE_NAMES.has(name)) return constantOf(name, 'string')
  throw unknownVariable(name, node, around)
}

const READERS: Readonly<Record<VariableName, Evaluate>> = {
  key: scope => scope.key,
  value: scope => scope.value,
  headers: scope => scope.record.headers,
  timestamp: scope => scope.record.timestamp,
  topic: scope => scope.record.metadata?.topic ?? null,
  partition: scope => scope.record.metadata?.partition ?? null,
  offset: scope => scope.record.metadata?.offset ?? null,
  state: scope => scope.state,
  left: scope => scope.left,
  right: scope => scope.right,
  window: scope => scope.window ?? null,
  item: scope => scope.item,
  index: scope => scope.index,
}

function isVariable(name: string): name is VariableName {
  return Object.hasOwn(VARIABLE_TYPES, name)
}

function unknownVariable(name: string, node: Node, around: Surroundings): ExpressionError {
  const known = [...around.variables, ...around.locals.keys()]
  const nearest = nearestName(name, known)
  const here = `known here: ${known.join(', ')}`
  const quoted = `a text is quoted: "'${name}'"`
  return new ExpressionError(
    isVariable(name) ? `"${name}" is not known in this place` : `unknown name "${name}"`,
    spanOf(node),
    nearest === undefined || nearest === name ? `${here}; ${quoted}` : `did you mean "${nearest}"? (${here})`,
  )
}

function compileGlobalCall(name: string, args: readonly Node[], node: Node, around: Surroundings): Compiled {
  if (name === 'has') return compileHas(args, node, around, compileNode)
  around.marks.special ||= name === 'timestamp' || name === 'duration'
  return compileCall('global', name, compileAll(args, around), node)
}

function compileMethodCall(
  name: string,
  receiver: Node,
  args: readonly Node[],
  node: Node,
  around: Surroundings,
): Compiled {
  const space = receiver.op === 'id' && !around.locals.has(receiver.args) ? receiver.args : undefined
  if (space === 'cel' && name === 'bind') return compileBind(args, node, around, compileNode)
  if (space === 'math' || space === 'optional') return compileCall(`${space}.`, name, compileAll(args, around), node)
  if (COLLECTION_MACROS.has(name)) return compileCollectionMacro(name, receiver, args, node, around, compileNode)
  if (!isMethod(name)) throw new ExpressionError(`there is no method "${name}"`, spanOf(node))
  return compileCall('method', name, compileAll([receiver, ...args], around), node)
}

function compileAll(nodes: readonly Node[], around: Surroundings): readonly Compiled[] {
  return nodes.map(node => compileNode(node, around))
}

function compileList(items: readonly Node[], around: Surroundings): Compiled {
  const parts = compileAll(items, around).map(part => part.evaluate)
  return { type: 'list', evaluate: scope => parts.map(part => part(scope)) }
}

function compileMap(entries: readonly (readonly [Node, Node])[], node: Node, around: Surroundings): Compiled {
  const parts = entries.map(([nameNode, valueNode]) => {
    const name = compileNode(nameNode, around)
    if (!mayBe(name.type, 'string'))
      throw new ExpressionError('the fields of an object have text names', spanOf(nameNode))
    return { name: name.evaluate, value: compileNode(valueNode, around).evaluate }
  })
  return {
    type: 'map',
    evaluate: scope => {
      const result: Record<string, unknown> = {}
      for (const { name, value } of parts) result[fieldName(name(scope), node)] = value(scope)
      return result
    },
  }
}

function fieldName(name: unknown, node: Node): string {
  if (typeof name !== 'string') {
    throw new EvaluationError(textOf(node), `the fields of an object have text names, got ${typeNameOf(name)}`)
  }
  // Assigning to it would set the prototype instead of a field.
  if (name === '__proto__') throw new EvaluationError(textOf(node), 'the field name "__proto__" is refused')
  return name
}

function compileTernary(parts: readonly [Node, Node, Node], around: Surroundings): Compiled {
  const condition = compileNode(parts[0], around)
  if (!mayBe(condition.type, 'bool')) {
    throw new ExpressionError(`a condition is true or false, not ${condition.type}`, spanOf(parts[0]))
  }
  const [yes, no] = [compileNode(parts[1], around), compileNode(parts[2], around)]
  const [test, whenTrue, whenFalse, place] = [condition.evaluate, yes.evaluate, no.evaluate, parts[0]]
  return {
    type: yes.type === no.type ? yes.type : 'dyn',
    evaluate: scope => (truth(test(scope), place) ? whenTrue(scope) : whenFalse(scope)),
  }
}

/** `||` (decided by true) and `&&` (decided by false): as in CEL a failing side does not matter where the other decides. */
function compileLogic(operands: readonly [Node, Node], decisive: boolean, around: Surroundings): Compiled {
  const [left, right] = [compileNode(operands[0], around), compileNode(operands[1], around)]
  for (const [at, operand] of [left, right].entries()) {
    if (mayBe(operand.type, 'bool')) continue
    throw new ExpressionError(`a condition is true or false, not ${operand.type}`, spanOf(operands[at === 0 ? 0 : 1]))
  }
  const [l, r] = [left.evaluate, right.evaluate]
  const rightTruth = (scope: ExpressionScope): boolean => truth(r(scope), operands[1])
  return {
    type: 'bool',
    evaluate: scope => {
      let first: boolean
      try {
        first = truth(l(scope), operands[0])
      } catch (error) {
        if ((error instanceof EvaluationError && !error.absorbable) || rightTruth(scope) !== decisive) throw error
        return decisive
      }
      return first === decisive ? decisive : rightTruth(scope)
    },
  }
}

function spanOf(node: Node): { start: number; end: number } {
  return { start: node.start, end: node.end }
}
