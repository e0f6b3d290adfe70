/** Deeper texts are refused: what walks a value (comparison, `JSON.stringify`) recurses and would overflow the stack. */
export const JSON_DEPTH_MAX = 256

/** Any integer of fewer digits is exact in a number. */
const UNSAFE_DIGITS_MIN = 16

const ZERO = 0x30
const NINE = 0x39
const QUOTE = 0x22
const BACKSLASH = 0x5c
const NUMBER_TOKEN = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/**
 * What `JSON.parse` accepts in silence and we do not; each check costs next to nothing for a text that is harmless.
 *
 * @throws SyntaxError or RangeError that says what is wrong
 */
export function checkJsonText(bytes: Buffer, text: string, value: unknown): void {
  if (bytes.length >= 2 * JSON_DEPTH_MAX) checkDepth(bytes)
  if (hasManyDigits(bytes)) checkIntegers(text)
  // Both forbidden keys contain "proto"; an escape such as _ may hide it.
  if (text.includes('proto') || text.includes('\\u00')) checkKeys(value)
}

/** Whether 16 digits stand in a row somewhere: one of them lies on every 16th byte, so only those are looked at. */
function hasManyDigits(bytes: Buffer): boolean {
  for (let at = UNSAFE_DIGITS_MIN - 1; at < bytes.length; at += UNSAFE_DIGITS_MIN) {
    if (!isDigit(bytes[at])) continue
    let first = at
    while (isDigit(bytes[first - 1])) first--
    let last = at
    while (isDigit(bytes[last + 1])) last++
    if (last - first + 1 >= UNSAFE_DIGITS_MIN) return true
  }
  return false
}

/** Integers written out in the text that a number would round. Exponents and fractions are doubles on purpose. */
function checkIntegers(text: string): void {
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      continue
    }
    NUMBER_TOKEN.lastIndex = at
    const token = NUMBER_TOKEN.exec(text)?.[0]
    if (token === undefined) {
      at++
      continue
    }
    if (!/[.eE]/.test(token) && !Number.isSafeInteger(Number(token))) {
      throw new RangeError(
        `the integer ${token.slice(0, 40)} in the JSON text is beyond ±(2^53 - 1) and would be rounded; send it as a string`,
      )
    }
    at += token.length
  }
}

function endOfString(text: string, open: number): number {
  let at = open + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

function checkDepth(bytes: Buffer): void {
  let depth = 0
  let inString = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (inString) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > JSON_DEPTH_MAX)
        throw new RangeError(`the JSON text nests deeper than ${String(JSON_DEPTH_MAX)} levels`)
    } else if (byte === 0x7d || byte === 0x5d) depth--
  }
}

/** `__proto__`, and `prototype` under `constructor`: keys that reach a prototype when someone copies the object carelessly. */
function checkKeys(value: unknown): void {
  if (!isObject(value)) return
  for (const key of Object.keys(value)) {
    if (key === '__proto__') throw new SyntaxError('the key "__proto__" is refused in JSON')
    const member = value[key]
    if (key === 'constructor' && isObject(member) && Object.hasOwn(member, 'prototype')) {
      throw new SyntaxError('the key "constructor.prototype" is refused in JSON')
    }
    checkKeys(member)
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}
