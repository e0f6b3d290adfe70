import { isUtf8 } from 'node:buffer'
import { PATIENCE_MAX, RECENT_TEXTS, type JsonMember, type JsonPlace } from './json-shapes.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20
const UPPER_E = 0x45
const LOWER_E = 0x65

/** The runtime copies shorter pieces of a text; longer ones would keep the whole text alive. */
const PIECE_LENGTH_MAX = 12
/** Longer texts are hardly ever repeated. */
const RECENT_LENGTH_MAX = 40
/** So many digits are exact in a number, and so is the power of ten they are divided by. */
const DIGITS_MAX = 15
const POWERS_OF_TEN = Array.from({ length: DIGITS_MAX + 1 }, (_, exponent) => 10 ** exponent)

const SPECIAL = 0
const PLAIN = 1
const BEYOND_ASCII = 3
/** Of each byte inside a string: whether it stands for itself, is a part of a character beyond ASCII, or is neither. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) return SPECIAL
  return byte < 0x80 ? PLAIN : BEYOND_ASCII
})
const NOTHING = Buffer.alloc(0)
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

/**
 * Reads JSON texts that are written as others before, with the same keys in the same order, and gives what `JSON.parse` would;
 * or gives up. `JSON.parse` takes 1.4 to 2.6 times as long, because it looks up each text of up to ten characters, and each
 * key, in a table of the runtime that grows with the texts (docs/performance.md).
 */
export class JsonReader {
  #bytes: Buffer = NOTHING
  #end = 0
  #at = 0
  /** The bytes as text; made when the first piece of it is needed. */
  #text: string | undefined
  /** Whether the bytes are valid UTF-8; asked when the first is found that is not ASCII. */
  #isUtf8: boolean | undefined

  /** The value, or `undefined` for a text that `JSON.parse` has to read. */
  read(bytes: Buffer, root: JsonPlace): unknown {
    this.#bytes = bytes
    this.#end = bytes.length
    this.#at = 0
    const value = this.#value(root)
    if (value !== undefined) this.#passSpace()
    // The bytes are a part of a larger block, which may go now.
    this.#bytes = NOTHING
    this.#text = undefined
    this.#isUtf8 = undefined
    return this.#at === this.#end ? value : undefined
  }

  #value(place: JsonPlace): unknown {
    const byte = this.#byte()
    switch (byte) {
      case QUOTE:
        return this.#string(place)
      case OPEN_OBJECT:
        return this.#object(place)
      case OPEN_LIST:
        return this.#list(place)
      case 0x74:
        return this.#matches(TRUE) ? true : undefined
      case 0x66:
        return this.#matches(FALSE) ? false : undefined
      case 0x6e:
        return this.#matches(NULL) ? null : undefined
      default:
        return this.#number(byte)
    }
  }

  #object(place: JsonPlace): unknown {
    const object: Record<string, unknown> = {}
    let ways = place.starts
    for (;;) {
      const member = this.#next(ways)
      if (member === undefined) break
      const value = this.#value(member.place)
      if (value === undefined) return undefined
      object[member.name] = value
      ways = member.followers
      if (this.#byte() === CLOSE_OBJECT) {
        this.#at += 1
        return object
      }
    }
    // The end of an empty object, or one on a line of its own.
    if (ways === place.starts) this.#at += 1
    this.#passSpace()
    if (this.#byte() !== CLOSE_OBJECT) return undefined
    this.#at += 1
    return object
  }

  /** Passes over what leads to one of the members. */
  #next(ways: readonly JsonMember[]): JsonMember | undefined {
    for (const way of ways) if (this.#matches(way.lead)) return way
    return undefined
  }

  #list({ elements }: JsonPlace): unknown {
    const list: unknown[] = []
    this.#at += 1
    this.#passSpace()
    if (this.#byte() === CLOSE_LIST) {
      this.#at += 1
      return list
    }
    if (elements === undefined) return undefined
    for (;;) {
      const value = this.#value(elements)
      if (value === undefined) return undefined
      list.push(value)
      this.#passSpace()
      const byte = this.#byte()
      this.#at += 1
      if (byte === CLOSE_LIST) return list
      if (byte !== COMMA) return undefined
      this.#passSpace()
    }
  }

  #string(place: JsonPlace): string | undefined {
    const bytes = this.#bytes
    const end = this.#end
    const start = this.#at + 1
    let at = start
    let seen = 0
    for (; at < end; at += 1) {
      const kind = KINDS[bytes[at] ?? 0] ?? SPECIAL
      if (kind === SPECIAL) break
      seen |= kind
    }
    if (at >= end) return undefined
    if (bytes[at] !== QUOTE) return this.#escapedString(at)
    this.#at = at + 1
    if (seen === BEYOND_ASCII) return this.#decoded(start, at)
    const length = at - start
    if (length === 0) return ''
    if (length > RECENT_LENGTH_MAX || place.patience === 0) return this.#piece(start, at)
    const slot = ((bytes[start] ?? 0) + (bytes[at - 1] ?? 0) + length) & (RECENT_TEXTS - 1)
    const known = place.recent[slot] ?? ''
    if (known.length === length && this.#isAt(start, known)) {
      place.patience = PATIENCE_MAX
      return known
    }
    place.patience -= 1
    return (place.recent[slot] = this.#piece(start, at))
  }

  #piece(start: number, end: number): string {
    return end - start > PIECE_LENGTH_MAX
      ? this.#bytes.toString('latin1', start, end)
      : (this.#text ??= this.#bytes.toString('latin1')).substring(start, end)
  }

  /** A string in which something special stands, which is not its end. */
  #escapedString(special: number): string | undefined {
    const bytes = this.#bytes
    const start = this.#at
    let at = special
    while (at < this.#end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
    if (at >= this.#end) return undefined
    this.#at = at + 1
    const token = this.#decoded(start, at + 1)
    if (token === undefined) return undefined
    try {
      const text: unknown = JSON.parse(token)
      return typeof text === 'string' ? text : undefined
    } catch {
      return undefined
    }
  }

  #decoded(start: number, end: number): string | undefined {
    this.#isUtf8 ??= isUtf8(this.#bytes)
    return this.#isUtf8 ? this.#bytes.toString('utf8', start, end) : undefined
  }

  /** Whether a text stands at a place; from its end, where most that are alike differ. */
  #isAt(start: number, text: string): boolean {
    const bytes = this.#bytes
    for (let at = text.length - 1; at >= 0; at -= 1) if (bytes[start + at] !== text.charCodeAt(at)) return false
    return true
  }

  #number(lead: number): number | undefined {
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#at
    let digit = lead
    if (lead === MINUS) {
      at += 1
      digit = at < end ? (bytes[at] ?? 0) : 0
    }
    if (digit < ZERO || digit > NINE) return undefined
    const first = at
    let mantissa = digit - ZERO
    at += 1
    // Behind a leading zero no digit is a part of the number.
    if (mantissa > 0) {
      for (; at < end; at += 1) {
        digit = bytes[at] ?? 0
        if (digit < ZERO || digit > NINE) break
        mantissa = mantissa * 10 + digit - ZERO
      }
    }
    let digits = at - first
    if (at < end && bytes[at] === POINT) {
      const pointAt = at
      for (at += 1; at < end; at += 1) {
        digit = bytes[at] ?? 0
        if (digit < ZERO || digit > NINE) break
        mantissa = mantissa * 10 + digit - ZERO
      }
      const decimals = at - pointAt - 1
      digits += decimals
      if (decimals === 0 || digits > DIGITS_MAX) return undefined
      // Both are exact, and a division rounds once: to the number next to what is written.
      mantissa /= POWERS_OF_TEN[decimals] ?? 1
    }
    if (digits > DIGITS_MAX) return undefined
    const next = at < end ? bytes[at] : 0
    if (next === LOWER_E || next === UPPER_E) return undefined
    this.#at = at
    return lead === MINUS ? -mantissa : mantissa
  }

  /** Passes over some bytes if they come next. */
  #matches(expected: Uint8Array): boolean {
    const bytes = this.#bytes
    const start = this.#at
    const { length } = expected
    if (start + length > this.#end) return false
    let index = 0
    // A few at a time, because each turn of a loop costs as much as a byte.
    for (; index + 3 < length; index += 4) {
      const at = start + index
      if (
        bytes[at] !== expected[index] ||
        bytes[at + 1] !== expected[index + 1] ||
        bytes[at + 2] !== expected[index + 2] ||
        bytes[at + 3] !== expected[index + 3]
      ) {
        return false
      }
    }
    for (; index < length; index += 1) if (bytes[start + index] !== expected[index]) return false
    this.#at = start + length
    return true
  }

  #passSpace(): void {
    for (;;) {
      const byte = this.#byte()
      if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return
      this.#at += 1
    }
  }

  /** The next byte; 0, which no JSON text has, at the end. */
  #byte(): number {
    return this.#at < this.#end ? (this.#bytes[this.#at] ?? 0) : 0
  }
}
