import { expect } from 'chai'

/**
 * Expects two values as JSON gives them to differ in nothing a program could see: numbers by `Object.is`, keys in the same order,
 * properties that can be written, plain objects and lists.
 */
export function expectIdentical(actual: unknown, expected: unknown, where = 'value'): void {
  if (typeof expected !== 'object' || expected === null) {
    if (!Object.is(actual, expected)) expect.fail(`${where}: ${shown(actual)} is not ${shown(expected)}`)
    return
  }
  if (typeof actual !== 'object' || actual === null) expect.fail(`${where}: ${shown(actual)} is no object`)
  if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) expect.fail(`${where}: another prototype`)
  expect(Reflect.ownKeys(actual), `keys of ${where}`).to.deep.equal(Reflect.ownKeys(expected))
  for (const key of Reflect.ownKeys(expected)) {
    const own = Object.getOwnPropertyDescriptor(actual, key)
    const wanted = Object.getOwnPropertyDescriptor(expected, key)
    if (
      own?.writable !== wanted?.writable ||
      own?.enumerable !== wanted?.enumerable ||
      own?.configurable !== wanted?.configurable
    ) {
      expect.fail(`${where}.${String(key)}: another kind of property`)
    }
    expectIdentical(own?.value, wanted?.value, `${where}.${String(key)}`)
  }
}

function shown(value: unknown): string {
  return Object.is(value, -0) ? '-0' : JSON.stringify(value)
}
