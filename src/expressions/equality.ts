import { isNumeric, numericallyEqual } from './numbers.ts'
import { isTimeSpan, isTimestamp } from './time-values.ts'

/** Deep equality of two values; values of different types are not equal, numbers of either kind compare by value. */
export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (isNumeric(left)) return isNumeric(right) && numericallyEqual(left, right)
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left)) return Array.isArray(right) && listsEqual(left, right)
  if (left instanceof Uint8Array) return right instanceof Uint8Array && Buffer.compare(left, right) === 0
  if (isTimestamp(left)) return isTimestamp(right) && left.ms === right.ms
  if (isTimeSpan(left)) return isTimeSpan(right) && left.ms === right.ms
  if (Array.isArray(right) || right instanceof Uint8Array || isTimestamp(right) || isTimeSpan(right)) return false
  return objectsEqual(left, right)
}

function listsEqual(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => isEqual(item, right[index]))
}

function objectsEqual(left: object, right: object): boolean {
  const members = Object.entries(left)
  const others = new Map<string, unknown>(Object.entries(right))
  return (
    members.length === others.size &&
    members.every(([name, member]) => others.has(name) && isEqual(member, others.get(name)))
  )
}
