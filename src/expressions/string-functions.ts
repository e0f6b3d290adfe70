import type { FunctionDefinition } from './function-table.ts'
import { patternOf } from './patterns.ts'
import type { StaticType } from './static-type.ts'

/** Functions on texts: CEL's standard ones and its string extension. Positions count characters (code points). */
export const STRING_FUNCTIONS: readonly FunctionDefinition[] = [
  method('contains', ['string'], 'bool', 'whether the text occurs', (text, part) => text.includes(str(part))),
  method('startsWith', ['string'], 'bool', 'whether it begins so', (text, part) => text.startsWith(str(part))),
  method('endsWith', ['string'], 'bool', 'whether it ends so', (text, part) => text.endsWith(str(part))),
  method(
    'matches',
    ['string'],
    'bool',
    'whether the regular expression (RE2 syntax, linear time) occurs; anchor it with ^ and $',
    (text, pattern) => patternOf(str(pattern)).occursIn(text),
  ),
  method('lowerAscii', [], 'string', 'A to Z in lower case', text =>
    text.replaceAll(/[A-Z]+/g, part => part.toLowerCase()),
  ),
  method('upperAscii', [], 'string', 'a to z in upper case', text =>
    text.replaceAll(/[a-z]+/g, part => part.toUpperCase()),
  ),
  method('trim', [], 'string', 'without white space at both ends', text => text.trim()),
  method('reverse', [], 'string', 'backwards', text => characters(text).toReversed().join('')),
  method('split', ['string'], 'list', 'the parts between the separators', (text, by) => text.split(str(by))),
  method('split', ['string', 'number'], 'list', 'at most that many parts, the last with the rest', (text, by, limit) =>
    splitAtMost(text, str(by), int(limit, 'limit')),
  ),
  method('replace', ['string', 'string'], 'string', 'every occurrence replaced', (text, from, to) =>
    text.split(str(from)).join(str(to)),
  ),
  method('replace', ['string', 'string', 'number'], 'string', 'at most that many occurrences replaced', replaceAtMost),
  method('indexOf', ['string'], 'number', 'position of the first occurrence, or -1', (text, part) =>
    indexFrom(text, str(part), 0),
  ),
  method('indexOf', ['string', 'number'], 'number', 'the same from a position on', (text, part, from) =>
    indexFrom(text, str(part), int(from, 'position')),
  ),
  method('lastIndexOf', ['string'], 'number', 'position of the last occurrence, or -1', (text, part) =>
    positionOf(text, text.lastIndexOf(str(part))),
  ),
  method('substring', ['number'], 'string', 'from a position to the end', (text, from) =>
    cut(text, int(from, 'start'), undefined),
  ),
  method(
    'substring',
    ['number', 'number'],
    'string',
    'from a position up to, not including, another',
    (text, from, to) => cut(text, int(from, 'start'), int(to, 'end')),
  ),
  method('charAt', ['number'], 'string', 'the character at a position; empty at the end', (text, at) =>
    characterAt(text, at),
  ),
  method('size', [], 'number', 'number of characters', text => lengthOf(text)),
  {
    name: 'size',
    form: 'global',
    parameters: ['string'],
    returns: 'number',
    doc: 'number of characters',
    body: text => lengthOf(str(text)),
  },
]

const BEYOND_BMP = /[\uD800-\uDFFF]/

/** An integer argument. @throws RangeError for a fraction */
export function int(value: unknown, what: string): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number
  throw new RangeError(`the ${what} is an integer, got ${String(value)}`)
}

function str(value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError('a text is needed')
}

function method(
  name: string,
  rest: readonly StaticType[],
  returns: StaticType,
  doc: string,
  body: (text: string, a: unknown, b: unknown, c: unknown) => unknown,
): FunctionDefinition {
  return {
    name,
    form: 'method',
    parameters: ['string', ...rest],
    returns,
    doc,
    body: (text, a, b, c) => body(str(text), a, b, c),
  }
}

function characters(text: string): string[] {
  return BEYOND_BMP.test(text) ? Array.from(text) : text.split('')
}

function lengthOf(text: string): number {
  return BEYOND_BMP.test(text) ? Array.from(text).length : text.length
}

/** A UTF-16 position as a character position. */
function positionOf(text: string, utf16: number): number {
  return utf16 < 0 ? -1 : lengthOf(text.slice(0, utf16))
}

function indexFrom(text: string, part: string, from: number): number {
  if (from < 0 || from > lengthOf(text)) throw new RangeError(`position ${String(from)} is outside the text`)
  const skipped = from === 0 ? 0 : characters(text).slice(0, from).join('').length
  return positionOf(text, text.indexOf(part, skipped))
}

function cut(text: string, from: number, to: number | undefined): string {
  const size = lengthOf(text)
  const end = to ?? size
  if (from < 0 || from > end || end > size) {
    throw new RangeError(`positions ${String(from)} to ${String(end)} are outside a text of ${String(size)} characters`)
  }
  return BEYOND_BMP.test(text) ? Array.from(text).slice(from, end).join('') : text.slice(from, end)
}

function characterAt(text: string, at: unknown): string {
  const position = int(at, 'position')
  const list = characters(text)
  if (position < 0 || position > list.length) throw new RangeError(`position ${String(position)} is outside the text`)
  return list[position] ?? ''
}

function splitAtMost(text: string, separator: string, limit: number): string[] {
  if (limit === 0) return []
  const parts = text.split(separator)
  if (limit < 0 || parts.length <= limit) return parts
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

function replaceAtMost(text: string, from: unknown, to: unknown, limit: unknown): string {
  const times = int(limit, 'limit')
  const parts = text.split(str(from))
  if (times < 0 || times >= parts.length - 1) return parts.join(str(to))
  return [parts.slice(0, times + 1).join(str(to)), ...parts.slice(times + 1)].join(str(from))
}
