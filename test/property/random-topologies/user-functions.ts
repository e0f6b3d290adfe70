/**
 * The functions that users of the topologies give to their operators: the same ones for millrace and for the model. They are
 * pure, take and return texts, and show in their result what they were called with, and in which order.
 */

import type { ValueType } from './operations.ts'

/** A header; its value may be missing. */
export type Header = readonly [name: string, value: string | null]

const LENGTH_MAX = 28

/** A text that stays short, and still differs where a long one would. */
export function short(text: string): string {
  if (text.length <= LENGTH_MAX) return text
  let hash = 7
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0
  return `${text.slice(0, 8)}~${(hash >>> 0).toString(36)}`
}

/** Any value as a text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('hex')}`
  return value === null || value === undefined ? '-' : JSON.stringify(value)
}

function sum(value: unknown): number {
  let total = 0
  for (const character of textOf(value)) total += character.codePointAt(0) ?? 0
  return total
}

let isFailing = false

/** Runs work during which the functions refuse some of what they are given. */
export function withFailures<T>(work: () => T): T {
  isFailing = true
  try {
    return work()
  } finally {
    isFailing = false
  }
}

/** What a function throws that refuses its arguments. */
export class Refusal extends Error {}

function accept(name: string, ...given: readonly unknown[]): void {
  const text = given.map(argument => textOf(argument)).join()
  if (isFailing && sum(`${name}${text}`) % 19 === 0) throw new Refusal(`${name} refuses ${text}`)
}

export function predicate(fn: number): (value: unknown, key: unknown) => boolean {
  const holds = condition(fn)
  return (value, key) => {
    accept('predicate', value)
    return holds(value, key)
  }
}

function condition(fn: number): (value: unknown, key: unknown) => boolean {
  switch (fn % 3) {
    case 0:
      return value => value !== null
    case 1:
      return value => sum(value) % 3 !== 0
    default:
      return (value, key) => sum(value) % 2 === 0 || key === 'a'
  }
}

export function predicateReadsKey(fn: number): boolean {
  return fn % 3 === 2
}

/** A mapper of values; the second kind makes null of some. */
export function mapper(fn: number): (value: unknown) => string | null {
  const map = mapping(fn)
  return value => {
    accept('mapper', value)
    return map(value)
  }
}

function mapping(fn: number): (value: unknown) => string | null {
  return fn % 2 === 0
    ? value => short(`${textOf(value)}!`)
    : value => (sum(value) % 4 === 0 ? null : short(`m${textOf(value)}`))
}

/** Makes a value of a type of another; numbers are often 0. */
export function converter(type: ValueType): (value: unknown) => unknown {
  const convert = {
    text: textOf,
    long: (value: unknown) => (sum(value) % 7) - 3,
    integer: (value: unknown) => (sum(value) % 5) - 2,
    double: (value: unknown) => (sum(value) % 9) / 8 - 0.5,
    boolean: (value: unknown) => sum(value) % 2 === 0,
    bytes: (value: unknown) => Buffer.from(textOf(value)),
    json: (value: unknown) => ({ text: textOf(value), sum: sum(value) }),
  }[type]
  return value => (value === null ? null : convert(value))
}

export function flatMapper(fn: number): (value: unknown) => (string | null)[] {
  return fn % 2 === 0
    ? value => [short(`${textOf(value)}1`), short(`${textOf(value)}2`)]
    : value => [[], [null], [short(`f${textOf(value)}`)], ['x', 'y', 'x']][sum(value) % 4] ?? []
}

/** A selector of keys; the second kind makes null of some. */
export function selector(fn: number): (value: unknown, key: unknown) => string | null {
  const select = selection(fn)
  return (value, key) => {
    accept('selector', value)
    return select(value, key)
  }
}

function selection(fn: number): (value: unknown, key: unknown) => string | null {
  switch (fn % 3) {
    case 0:
      return value => `k${String(sum(value) % 2)}`
    case 1:
      return (value, key) => (sum(value) % 5 === 0 ? null : textOf(key).slice(0, 1))
    default:
      return value => textOf(value).slice(0, 1)
  }
}

export function selectorReadsKey(fn: number): boolean {
  return fn % 3 === 1
}

export function pairMapper(fn: number): (value: unknown, key: unknown) => [string | null, string | null] {
  const [key, value] = [selector(fn), mapper(fn)]
  return (oldValue, oldKey) => [key(oldValue, oldKey), value(oldValue)]
}

export function flatPairMapper(fn: number): (value: unknown, key: unknown) => [string | null, string | null][] {
  const [key, values] = [selector(fn), flatMapper(fn)]
  return (oldValue, oldKey) => values(oldValue).map(value => [key(oldValue, oldKey), value])
}

/** The id of a record in a dedupe. */
export function idOf(fn: number): (value: unknown) => string | null {
  return fn % 2 === 0 ? value => textOf(value) : value => (sum(value) % 4 === 0 ? null : String(sum(value) % 3))
}

export function joiner(left: unknown, right: unknown, key: unknown): string | null {
  accept('joiner', left, right)
  const joined = `(${textOf(left)}|${textOf(right)})${textOf(key).slice(0, 1)}`
  return sum(joined) % 11 === 0 ? null : short(joined)
}

/** The joiner of an operation: every other one takes no notice of the key. */
export function joinerOf(operation: object): typeof joiner {
  return joinerReadsKey(operation) ? joiner : (left, right) => joiner(left, right, '')
}

export function joinerReadsKey(operation: object): boolean {
  return sum(operation) % 2 === 0
}

/** A group of a table's row; some rows belong to none. */
export function grouper(fn: number): (value: unknown, key: unknown) => [string | null, string] {
  return fn % 2 === 0
    ? (value, key) => [`g${String(sum(value) % 2)}`, short(`${textOf(value)}.${keyText(key)}`)]
    : (value, key) => [sum(value) % 5 === 0 ? null : keyText(key).slice(0, 1), short(textOf(value))]
}

/** The key of another table in a row; some rows have none. */
export function foreignKey(fn: number): (value: unknown) => string | null {
  return fn % 2 === 0
    ? value => ['a', 'b', 'c'][sum(value) % 3] ?? null
    : value => (sum(value) % 4 === 0 ? null : textOf(value).slice(0, 1))
}

export const initializer = (): string => 'i'

/** Adds a value to an aggregate; some sums are deletions. */
export function adder(aggregate: unknown, value: unknown): string | null {
  accept('adder', aggregate, value)
  const total = `${textOf(aggregate)}+${textOf(value)}`
  return sum(total) % 8 === 0 ? null : short(total)
}

/** The adder of the n-th input of a cogroup. */
export function adderOf(input: number): (aggregate: unknown, value: unknown) => string | null {
  return (aggregate, value) => adder(aggregate, `${String(input)}${textOf(value)}`)
}

export function subtractor(aggregate: unknown, value: unknown): string | null {
  accept('subtractor', aggregate, value)
  const total = `${textOf(aggregate)}-${textOf(value)}`
  return sum(total) % 11 === 0 ? null : short(total)
}

/** Joins the aggregates of two sessions. */
export function merger(left: unknown, right: unknown): string {
  accept('merger', left, right)
  return short(`[${textOf(left)},${textOf(right)}]`)
}

/** The headers of what the processor forwards for the n-th record of a key: one more, those it came with, or fewer. */
export function headersAfter(count: number, headers: readonly Header[]): readonly Header[] {
  if (count % 3 === 2) return headers
  return count % 3 === 1 ? [...headers, ['n', String(count)]] : headers.filter(([name]) => name !== 'h')
}

/** A key as a text: that of a window with its bounds. */
export function keyText(key: unknown): string {
  if (typeof key === 'object' && key !== null && 'key' in key && 'start' in key && 'end' in key)
    return `${textOf(key.key)}@${textOf(key.start)}-${textOf(key.end)}`
  return textOf(key)
}
