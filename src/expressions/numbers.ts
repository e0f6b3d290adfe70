import { EvaluationError } from './expression-error.ts'
import { textOf, type Node } from './parse.ts'

/** All numbers of an expression: JSON numbers, and bigints where the serde `bigint` gives them. */
export type Numeric = number | bigint

/** The operators of arithmetic. */
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%'

const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

/** Whether a value takes part in arithmetic. */
export function isNumeric(value: unknown): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint'
}

/**
 * Arithmetic as a JSON reader expects it: whole and fractional numbers mix, `7 / 2` is 3.5, and an integer that a number
 * cannot hold exactly is a failure, never rounded. A bigint stays exact within 64 bits.
 *
 * @throws EvaluationError on overflow and on division by zero
 */
export function arithmetic(operator: ArithmeticOperator, left: Numeric, right: Numeric, node: Node): Numeric {
  if (typeof left === 'bigint' || typeof right === 'bigint') return exactArithmetic(operator, left, right, node)
  if ((operator === '/' || operator === '%') && right === 0) throw new EvaluationError(textOf(node), 'division by zero')
  const result = inNumbers(operator, left, right)
  if (result <= Number.MAX_SAFE_INTEGER && result >= Number.MIN_SAFE_INTEGER) return result
  if (!Number.isFinite(result)) throw new EvaluationError(textOf(node), 'the result is not a finite number')
  if (Number.isSafeInteger(left) && Number.isSafeInteger(right)) {
    throw new EvaluationError(textOf(node), 'the integer result is beyond ±(2^53 - 1) and would be rounded')
  }
  return result
}

/** `-x`. */
export function negated(value: Numeric): Numeric {
  // `0 - x` rather than `-x`: a JSON reader knows no negative zero.
  return typeof value === 'bigint' ? -value : 0 - value
}

/** Whether two numbers are the same, a bigint and a number compared by value. */
export function numericallyEqual(left: Numeric, right: Numeric): boolean {
  return typeof left === typeof right ? left === right : !(left < right) && !(left > right) && !isNaNumber(left, right)
}

function isNaNumber(left: Numeric, right: Numeric): boolean {
  return Number.isNaN(left) || Number.isNaN(right)
}

function inNumbers(operator: ArithmeticOperator, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
  }
}

function exactArithmetic(operator: ArithmeticOperator, left: Numeric, right: Numeric, node: Node): bigint {
  const [a, b] = [exact(left, node), exact(right, node)]
  if ((operator === '/' || operator === '%') && b === 0n) throw new EvaluationError(textOf(node), 'division by zero')
  const result = inBigints(operator, a, b)
  if (result > INT64_MAX || result < INT64_MIN) throw new EvaluationError(textOf(node), 'the result is beyond 64 bits')
  return result
}

function inBigints(operator: ArithmeticOperator, left: bigint, right: bigint): bigint {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
  }
}

function exact(value: Numeric, node: Node): bigint {
  if (typeof value === 'bigint') return value
  if (Number.isSafeInteger(value)) return BigInt(value)
  throw new EvaluationError(
    textOf(node),
    `a bigint does not mix with the fraction ${String(value)}; write int(x) or double(x)`,
  )
}
