/** Freezes plain objects and lists, all the way down; instances of classes and functions are left alone. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
  if (!isPlain || Object.isFrozen(value)) return value
  for (const member of Object.values(value) as Iterable<unknown>) freezeDeep(member)
  return Object.freeze(value)
}
