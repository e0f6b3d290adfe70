import { isUtf8 } from 'node:buffer'
import type { JsonMember } from './json-shapes.ts'

const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
const SPACE = 0x20
const UPPER_E = 0x45
const LOWER_E = 0x65

/** The runtime copies shorter pieces of a text; longer ones would keep the whole text alive. */
const PIECE_LENGTH_MAX = 12
/** So many digits are exact in a number, and so is the power of ten they are divided by. */
const DIGITS_MAX = 15
const POWERS_OF_TEN = Array.from({ length: DIGITS_MAX + 1 }, (_, exponent) => 10 ** exponent)

/** Of a string with escapes or without an end. */
export const SPECIAL = 0
/** Of a string whose bytes stand for themselves. */
export const PLAIN = 1
/** Of a string with characters beyond ASCII. */
export const BEYOND_ASCII = 3
/** Of each byte inside a string: whether it stands for itself, is a part of a character beyond ASCII, or is neither. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) return SPECIAL
  return byte < 0x80 ? PLAIN : BEYOND_ASCII
})
const NOTHING = Buffer.alloc(0)

/** Passes over the parts of a JSON text that lies among other bytes. */
export class JsonCursor {
  protected bytes: Buffer = NOTHING
  protected at = 0
  protected end = 0
  #start = 0
  /** The bytes as text; made when the first piece of it is needed. */
  #text: string | undefined
  /** Whether the bytes are valid UTF-8; asked when the first is found that is not ASCII. */
  #isUtf8: boolean | undefined

  /** Goes to the text between two places. */
  protected enter(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes
    this.at = start
    this.end = end
    this.#start = start
    this.#text = undefined
    this.#isUtf8 = undefined
  }

  /** The bytes are a part of a larger block, which may go now. */
  protected leave(): void {
    this.bytes = NOTHING
    this.#text = undefined
  }

  /** Passes over what leads to one of the members. */
  protected next(ways: readonly JsonMember[]): JsonMember | undefined {
    for (const way of ways) if (this.matches(way.lead)) return way
    return undefined
  }

  /** Passes over a string and says what it is made of; over nothing where that is something special. */
  protected passPlain(): number {
    const { bytes, end } = this
    let at = this.at + 1
    let seen = PLAIN
    for (; at < end; at += 1) {
      const kind = KINDS[bytes[at] ?? 0] ?? SPECIAL
      if (kind === SPECIAL) break
      seen |= kind
    }
    if (at >= end || bytes[at] !== QUOTE) return SPECIAL
    this.at = at + 1
    return seen
  }

  /** Bytes of ASCII as text. */
  protected piece(start: number, end: number): string {
    return end - start > PIECE_LENGTH_MAX
      ? this.bytes.toString('latin1', start, end)
      : (this.#text ??= this.bytes.toString('latin1', this.#start, this.end)).substring(
          start - this.#start,
          end - this.#start,
        )
  }

  /** A string in which something special stands, or which is none. */
  protected escaped(): string | undefined {
    const bytes = this.bytes
    const start = this.at
    let at = start + 1
    while (at < this.end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
    if (at >= this.end) return undefined
    this.at = at + 1
    const token = this.decoded(start, at + 1)
    if (token === undefined) return undefined
    try {
      const text: unknown = JSON.parse(token)
      return typeof text === 'string' ? text : undefined
    } catch {
      return undefined
    }
  }

  /** Bytes beyond ASCII as text, where they are UTF-8. */
  protected decoded(start: number, end: number): string | undefined {
    this.#isUtf8 ??= isUtf8(this.bytes.subarray(this.#start, this.end))
    return this.#isUtf8 ? this.bytes.toString('utf8', start, end) : undefined
  }

  /** Whether a text stands at a place; from its end, where most that are alike differ. */
  protected isAt(start: number, text: string): boolean {
    const bytes = this.bytes
    for (let at = text.length - 1; at >= 0; at -= 1) if (bytes[start + at] !== text.charCodeAt(at)) return false
    return true
  }

  /** A number that begins with a byte; `undefined` for what is none, or not exact this way. */
  protected number(lead: number): number | undefined {
    const bytes = this.bytes
    const end = this.end
    let at = this.at
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
    this.at = at
    return lead === MINUS ? -mantissa : mantissa
  }

  /** Passes over some bytes if they come next. */
  protected matches(expected: Uint8Array): boolean {
    const bytes = this.bytes
    const start = this.at
    const { length } = expected
    if (start + length > this.end) return false
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
    this.at = start + length
    return true
  }

  protected passSpace(): void {
    for (;;) {
      const byte = this.byte()
      if (byte !== SPACE && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return
      this.at += 1
    }
  }

  /** The next byte; 0, which no JSON text has, at the end. */
  protected byte(): number {
    return this.at < this.end ? (this.bytes[this.at] ?? 0) : 0
  }
}
