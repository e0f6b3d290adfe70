import type { Compiled, Evaluate } from './compiled.ts'
import { isEqual } from './equality.ts'
import { EvaluationError, ExpressionError } from './expression-error.ts'
import { arithmetic, isNumeric, negated, type ArithmeticOperator } from './numbers.ts'
import { textOf, type Node } from './parse.ts'
import { isFields, mayBe, typeNameOf, type StaticType } from './static-type.ts'
import { isTimeSpan, isTimestamp, TimeSpanValue, TimestampValue } from './time-values.ts'

/** The operators that compare by order. */
export type OrderOperator = '<' | '<=' | '>' | '>='

/** `a + b`, `a - b`, `a * b`, `a / b`, `a % b`. */
export function compileArithmetic(operator: ArithmeticOperator, left: Compiled, right: Compiled, node: Node): Compiled {
  const type = arithmeticType(operator, left.type, right.type, node)
  const [l, r] = [left.evaluate, right.evaluate]
  const evaluate: Evaluate = scope => {
    const [a, b] = [l(scope), r(scope)]
    return isNumeric(a) && isNumeric(b) ? arithmetic(operator, a, b, node) : otherArithmetic(operator, a, b, node)
  }
  if (operator !== '+') return { type, evaluate }
  // Sums are the bread and butter of aggregates, texts of joins: two plain numbers or texts take no further call.
  return {
    type,
    evaluate: scope => {
      const a = l(scope)
      const b = r(scope)
      if (typeof a === 'number' && typeof b === 'number') {
        const sum = a + b
        if (sum <= Number.MAX_SAFE_INTEGER && sum >= Number.MIN_SAFE_INTEGER) return sum
      }
      if (typeof a === 'string' && typeof b === 'string') return a + b
      return isNumeric(a) && isNumeric(b) ? arithmetic('+', a, b, node) : otherArithmetic('+', a, b, node)
    },
  }
}

/** `a < b` and its kin: numbers, texts, booleans, timestamps and durations with their like. */
export function compileOrder(operator: OrderOperator, left: Compiled, right: Compiled, node: Node): Compiled {
  const orderable: readonly StaticType[] = ['number', 'string', 'bool', 'timestamp', 'duration']
  const known = left.type !== 'dyn' && right.type !== 'dyn'
  if (!mayBe(left.type, ...orderable) || !mayBe(right.type, ...orderable) || (known && left.type !== right.type)) {
    throw noOverload(operator, left.type, right.type, node)
  }
  const [l, r] = [left.evaluate, right.evaluate]
  const holds = ORDERS[operator]
  return {
    type: 'bool',
    evaluate: scope => {
      const a = l(scope)
      const b = r(scope)
      return typeof a === 'number' && typeof b === 'number' ? holds(a, b) : holds(orderOf(a, b, operator, node), 0)
    },
  }
}

/** `a == b`, `a != b`; values of different types are just not equal. */
export function compileEquality(operator: '==' | '!=', left: Compiled, right: Compiled): Compiled {
  const [l, r] = [left.evaluate, right.evaluate]
  const wanted = operator === '=='
  const fixed = (right.constant ?? left.constant)?.value
  if (typeof fixed === 'string' || typeof fixed === 'boolean' || fixed === null) {
    const other = right.constant === undefined ? r : l
    return { type: 'bool', evaluate: scope => (other(scope) === fixed) === wanted }
  }
  return { type: 'bool', evaluate: scope => isEqual(l(scope), r(scope)) === wanted }
}

/** `a in list`, `name in object`. */
export function compileMembership(left: Compiled, right: Compiled, node: Node): Compiled {
  if (!mayBe(right.type, 'list', 'map', 'headers')) throw noOverload('in', left.type, right.type, node)
  const [l, r] = [left.evaluate, right.evaluate]
  if (right.type === 'headers') {
    return { type: 'bool', evaluate: scope => scope.record.headers.get(nameOf(l(scope), node)) !== undefined }
  }
  return {
    type: 'bool',
    evaluate: scope => {
      const member = l(scope)
      const whole = r(scope)
      if (Array.isArray(whole)) return whole.some(item => isEqual(item, member))
      if (isFields(whole)) return Object.hasOwn(whole, nameOf(member, node))
      throw new EvaluationError(textOf(node), `"in" needs a list or an object, got ${typeNameOf(whole)}`)
    },
  }
}

/** `-a`. */
export function compileMinus(operand: Compiled, node: Node): Compiled {
  if (!mayBe(operand.type, 'number', 'duration')) throw noOverload('-', operand.type, undefined, node)
  const inner = operand.evaluate
  return {
    type: operand.type,
    evaluate: scope => {
      const value = inner(scope)
      if (isNumeric(value)) return negated(value)
      if (isTimeSpan(value)) return new TimeSpanValue(-value.ms)
      throw new EvaluationError(textOf(node), `"-" needs a number, got ${typeNameOf(value)}`)
    },
  }
}

/** `!a`. */
export function compileNot(operand: Compiled, node: Node): Compiled {
  if (!mayBe(operand.type, 'bool')) throw noOverload('!', operand.type, undefined, node)
  const inner = operand.evaluate
  return { type: 'bool', evaluate: scope => !truth(inner(scope), node) }
}

/** The value as a condition. @throws EvaluationError when it is none: nothing is true by being there. */
export function truth(value: unknown, node: Node): boolean {
  if (value === true) return true
  if (value === false) return false
  throw new EvaluationError(textOf(node), `a condition is true or false, got ${typeNameOf(value)}`)
}

const ORDERS: Readonly<Record<OrderOperator, (left: number, right: number) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}

/** Negative, zero or positive, as `left` stands before, with or after `right`. */
function orderOf(left: unknown, right: unknown, operator: OrderOperator, node: Node): number {
  if (isNumeric(left) && isNumeric(right)) return left < right ? -1 : Number(left > right)
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : Number(left > right)
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right)
  if (isTimestamp(left) && isTimestamp(right)) return left.ms - right.ms
  if (isTimeSpan(left) && isTimeSpan(right)) return left.ms - right.ms
  throw new EvaluationError(textOf(node), noOverloadText(operator, typeNameOf(left), typeNameOf(right)))
}

function otherArithmetic(operator: ArithmeticOperator, left: unknown, right: unknown, node: Node): unknown {
  if (operator === '+') {
    if (typeof left === 'string' && typeof right === 'string') return left + right
    if (Array.isArray(left) && Array.isArray(right))
      return [...(left as readonly unknown[]), ...(right as readonly unknown[])]
    if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.concat([left, right])
    if (isTimestamp(left) && isTimeSpan(right)) return new TimestampValue(left.ms + right.ms)
    if (isTimeSpan(left) && isTimestamp(right)) return new TimestampValue(left.ms + right.ms)
    if (isTimeSpan(left) && isTimeSpan(right)) return new TimeSpanValue(left.ms + right.ms)
  }
  if (operator === '-') {
    if (isTimestamp(left) && isTimestamp(right)) return new TimeSpanValue(left.ms - right.ms)
    if (isTimestamp(left) && isTimeSpan(right)) return new TimestampValue(left.ms - right.ms)
    if (isTimeSpan(left) && isTimeSpan(right)) return new TimeSpanValue(left.ms - right.ms)
  }
  throw new EvaluationError(textOf(node), noOverloadText(operator, typeNameOf(left), typeNameOf(right)))
}

function arithmeticType(operator: ArithmeticOperator, left: StaticType, right: StaticType, node: Node): StaticType {
  const pairs = ARITHMETIC_TYPES.filter(
    ([operators, l, r]) => operators.includes(operator) && mayBe(left, l) && mayBe(right, r),
  )
  const [first] = pairs
  if (first === undefined) throw noOverload(operator, left, right, node)
  return pairs.length === 1 ? first[3] : 'dyn'
}

const ARITHMETIC_TYPES: readonly (readonly [
  operators: string,
  left: StaticType,
  right: StaticType,
  result: StaticType,
])[] = [
  ['+-*/%', 'number', 'number', 'number'],
  ['+', 'string', 'string', 'string'],
  ['+', 'list', 'list', 'list'],
  ['+', 'bytes', 'bytes', 'bytes'],
  ['+-', 'timestamp', 'duration', 'timestamp'],
  ['+', 'duration', 'timestamp', 'timestamp'],
  ['+-', 'duration', 'duration', 'duration'],
  ['-', 'timestamp', 'timestamp', 'duration'],
]

function nameOf(value: unknown, node: Node): string {
  if (typeof value === 'string') return value
  throw new EvaluationError(textOf(node), `the fields of an object have text names, got ${typeNameOf(value)}`)
}

function noOverload(operator: string, left: StaticType, right: StaticType | undefined, node: Node): ExpressionError {
  return new ExpressionError(noOverloadText(operator, left, right), { start: node.start, end: node.end })
}

function noOverloadText(operator: string, left: string, right: string | undefined): string {
  const operands = right === undefined ? left : `${left} and ${right}`
  const hint = operator === '+' && (left === 'string') !== (right === 'string') ? '; write string(x) to join texts' : ''
  return `"${operator}" does not work on ${operands}${hint}`
}
