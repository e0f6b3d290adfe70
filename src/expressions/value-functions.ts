import { isEqual } from './equality.ts'
import type { FunctionBody, FunctionDefinition } from './function-table.ts'
import { isNumeric, type Numeric } from './numbers.ts'
import { typeNameOf, type StaticType } from './static-type.ts'
import { int } from './string-functions.ts'
import {
  formatTimeSpan,
  formatTimestamp,
  isTimeSpan,
  isTimestamp,
  parseTimeSpanMs,
  TimeSpanValue,
} from './time-values.ts'

/** Conversions, and functions on lists, objects, bytes, numbers and nullable values. */
export const VALUE_FUNCTIONS: readonly FunctionDefinition[] = [
  global('string', ['dyn'], 'string', 'as text; an integer prints as an integer, bytes are read as UTF-8', textFrom),
  global(
    'int',
    ['dyn'],
    'number',
    'whole number of a number (cut off), a decimal text or a timestamp (seconds)',
    integerFrom,
  ),
  global('uint', ['dyn'], 'number', 'as int, and not negative', value => {
    const whole = integerFrom(value)
    if (whole < 0) throw new RangeError('the number is negative')
    return whole
  }),
  global('double', ['dyn'], 'number', 'number of a number or a text', numberFrom),
  global('bool', ['dyn'], 'bool', 'of true, false, and the texts "true" and "false"', booleanFrom),
  global('bytes', ['dyn'], 'bytes', 'UTF-8 bytes of a text', value => {
    if (value instanceof Uint8Array) return value
    if (typeof value === 'string') return Buffer.from(value, 'utf8')
    throw new TypeError(`a text is needed, got ${typeNameOf(value)}`)
  }),
  global('dyn', ['dyn'], 'dyn', 'the value itself, its type unknown to the checker', value => value),
  global(
    'type',
    ['dyn'],
    'string',
    'name of its type: int, double, string, bool, bytes, list, map, null_type, timestamp, duration',
    typeOf,
  ),
  global('duration', ['string'], 'duration', 'a length of time, such as "1h30m"', text => {
    const ms = typeof text === 'string' ? parseTimeSpanMs(text) : undefined
    if (ms === undefined) throw new RangeError('a duration is text such as "1h30m" or "2.5s"')
    return new TimeSpanValue(ms)
  }),
  ...(['list', 'map', 'bytes'] as const).flatMap(type => [
    method('size', [type], 'number', 'how many there are', sizeOf),
    global('size', [type], 'number', 'how many there are', sizeOf),
  ]),
  method('join', ['list'], 'string', 'its texts in one', list => joined(list, '')),
  method('join', ['list', 'string'], 'string', 'its texts in one, with a separator between', (list, by) =>
    joined(list, String(by)),
  ),
  method('slice', ['list', 'number', 'number'], 'list', 'from a position up to, not including, another', sliceOf),
  method('distinct', ['list'], 'list', 'without repetitions', list =>
    listOf(list).filter((item, at, all) => all.findIndex(other => isEqual(other, item)) === at),
  ),
  method('reverse', ['list'], 'list', 'backwards', list => listOf(list).toReversed()),
  method('sort', ['list'], 'list', 'its numbers or texts in ascending order', sorted),
  method('sum', ['list'], 'number', 'of its numbers', list =>
    listOf(list).reduce<number>((sum, item) => checkedSum(sum, item), 0),
  ),
  method('hex', ['bytes'], 'string', 'hexadecimal digits', bytes => bufferOf(bytes).toString('hex')),
  method('base64', ['bytes'], 'string', 'base 64', bytes => bufferOf(bytes).toString('base64')),
  math('greatest', 2, 'the greater number', (a, b) => (num(a) >= num(b) ? a : b)),
  math('least', 2, 'the lesser number', (a, b) => (num(a) <= num(b) ? a : b)),
  math('abs', 1, 'without its sign', a => (num(a) < 0 ? -num(a) : a)),
  math('sign', 1, '-1, 0 or 1', a => (num(a) < 0 ? -1 : Number(num(a) > 0))),
  math('ceil', 1, 'the next integer up', a => Math.ceil(Number(num(a)))),
  math('floor', 1, 'the next integer down', a => Math.floor(Number(num(a)))),
  math('trunc', 1, 'the fraction cut off', a => Math.trunc(Number(num(a)))),
  math('round', 1, 'the nearest integer, halves away from zero', a => {
    const value = Number(num(a))
    return Math.sign(value) * Math.round(Math.abs(value))
  }),
  method(
    'orValue',
    ['dyn', 'dyn'],
    'dyn',
    'the value, or the other one where it is null: value.?a.orValue(0)',
    (value, other) => value ?? other,
  ),
  method('or', ['dyn', 'dyn'], 'dyn', 'as orValue', (value, other) => value ?? other),
  method('hasValue', ['dyn'], 'bool', 'whether it is not null', value => value !== null),
  method('value', ['dyn'], 'dyn', 'the value; a null is a failure', value => {
    if (value === null) throw new TypeError('the value is null')
    return value
  }),
  { name: 'of', form: 'optional.', parameters: ['dyn'], returns: 'dyn', doc: 'the value itself', body: value => value },
  { name: 'none', form: 'optional.', parameters: [], returns: 'null', doc: 'null', body: () => null },
]

function method(
  name: string,
  parameters: readonly StaticType[],
  returns: StaticType,
  doc: string,
  body: FunctionBody,
): FunctionDefinition {
  return { name, form: 'method', parameters, returns, doc, body }
}

function global(
  name: string,
  parameters: readonly StaticType[],
  returns: StaticType,
  doc: string,
  body: FunctionBody,
): FunctionDefinition {
  return { name, form: 'global', parameters, returns, doc, body }
}

function math(name: string, count: 1 | 2, doc: string, body: FunctionBody): FunctionDefinition {
  return {
    name,
    form: 'math.',
    parameters: count === 1 ? ['number'] : ['number', 'number'],
    returns: 'number',
    doc,
    body,
  }
}

function textFrom(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint8Array) return new TextDecoder('utf-8', { fatal: true }).decode(value)
  if (isTimestamp(value)) return formatTimestamp(value)
  if (isTimeSpan(value)) return formatTimeSpan(value)
  throw new TypeError(`string() takes a number, text, bool, bytes, timestamp or duration, got ${typeNameOf(value)}`)
}

function integerFrom(value: unknown): Numeric {
  if (typeof value === 'bigint') return value
  const number =
    typeof value === 'string' && /^[+-]?\d+$/.test(value)
      ? Number(value)
      : isTimestamp(value)
        ? Math.floor(value.ms / 1_000)
        : value
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    throw new TypeError(`int() takes a number, a decimal text or a timestamp, got ${typeNameOf(value)}`)
  }
  const whole = Math.trunc(number)
  if (!Number.isSafeInteger(whole)) throw new RangeError('the integer is beyond ±(2^53 - 1) and would be rounded')
  return whole
}

function numberFrom(value: unknown): number {
  if (isNumeric(value)) return Number(value)
  const number = typeof value === 'string' && value.trim() === value && value !== '' ? Number(value) : Number.NaN
  if (Number.isFinite(number)) return number
  throw new TypeError(`double() takes a number or a text of one, got ${typeNameOf(value)}`)
}

function booleanFrom(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  if (value === 'false') return false
  throw new TypeError(`bool() takes true, false, "true" or "false", got ${typeNameOf(value)}`)
}

function typeOf(value: unknown): string {
  if (isNumeric(value)) return typeof value === 'bigint' || Number.isInteger(value) ? 'int' : 'double'
  return value === null ? 'null_type' : typeNameOf(value)
}

function sizeOf(value: unknown): number {
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[]
  throw new TypeError(`a list is needed, got ${typeNameOf(value)}`)
}

function joined(value: unknown, separator: string): string {
  const parts = listOf(value)
  const other = parts.find(part => typeof part !== 'string')
  if (other !== undefined) throw new TypeError(`join() takes texts, got ${typeNameOf(other)}`)
  return parts.join(separator)
}

function sliceOf(value: unknown, from: unknown, to: unknown): readonly unknown[] {
  const [list, start, end] = [listOf(value), int(from, 'start'), int(to, 'end')]
  if (start < 0 || start > end || end > list.length) {
    throw new RangeError(`positions ${String(start)} to ${String(end)} are outside a list of ${String(list.length)}`)
  }
  return list.slice(start, end)
}

function sorted(value: unknown): readonly unknown[] {
  const list = listOf(value)
  if (list.every(isNumeric)) return list.toSorted((a, b) => (num(a) < num(b) ? -1 : Number(num(a) > num(b))))
  if (list.every(item => typeof item === 'string')) return list.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
  throw new TypeError('sort() takes a list of numbers or of texts')
}

function checkedSum(sum: number, item: unknown): number {
  const next = sum + Number(num(item))
  if (!Number.isFinite(next) || (Number.isInteger(next) && !Number.isSafeInteger(next))) {
    throw new RangeError('the sum is beyond ±(2^53 - 1) and would be rounded')
  }
  return next
}

function num(value: unknown): Numeric {
  if (isNumeric(value)) return value
  throw new TypeError(`a number is needed, got ${typeNameOf(value)}`)
}

function bufferOf(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError(`bytes are needed, got ${typeNameOf(value)}`)
}
