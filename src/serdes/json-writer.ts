import { Attempts } from './attempts.ts'
import { JsonDraft } from './json-draft.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const BYTES_MIN = 1_024
/** Longer texts are written by the runtime: most of them is text between quotes, which it copies faster. */
const BYTES_MAX = 65_536
/** Deeper values, and those that contain themselves, are left to the runtime. */
const DEPTH_MAX = 16
/** Names of members that are remembered: what has more is no record with fields but a dictionary. */
const NAMES_MAX = 256
/** Integers of more digits are written in two parts. */
const PART = 1e8
/** Up to here a loop is faster than the runtime. */
const LOOP_LENGTH_MAX = 256
/** Views of so many lengths are kept. */
const VIEWS_MAX = 1_024

/** 1 for characters that stand for themselves in a JSON string. */
const PLAIN = Uint8Array.from({ length: 128 }, (_, char) =>
  char >= 0x20 && char !== QUOTE && char !== BACKSLASH ? 1 : 0,
)

/** A member of objects, with what has come behind it and inside of it the last time: most objects are alike. */
interface Member {
  readonly name: string
  /** The name in quotes, and the colon. */
  readonly bytes: Uint8Array
  /** What came next. */
  next: Member | undefined
  /** What objects that are its value began with. */
  first: Member | undefined
}

/** An object that has what every object has: nothing that would be written. */
const EMPTY: object = {}

/**
 * Writes plain objects and lists as JSON into memory of its own: byte for byte what `JSON.stringify` gives as UTF-8, or nothing.
 * It takes a fraction of the time, because neither a text nor a buffer is made for each value (docs/performance.md).
 */
export class JsonWriter {
  readonly #attempts = new Attempts()
  readonly #names = new Map<string, Member>()
  readonly #root: Member = { name: '', bytes: new Uint8Array(0), next: undefined, first: undefined }
  #bytes = Buffer.allocUnsafeSlow(BYTES_MIN)
  #at = 0
  #isWriting = false
  /** The beginning of `#bytes`, by length; an object for each value would cost more than the value. */
  #views: Buffer[] = []

  /** The bytes, good until the next call, or `undefined` for a value that `JSON.stringify` has to write or refuse. */
  write(value: unknown): Buffer | undefined {
    // A getter of the value may write another one.
    if (this.#isWriting || !this.#attempts.isWorthIt()) return undefined
    this.#at = 0
    this.#isWriting = true
    let isWritten = false
    try {
      isWritten =
        isPlainTop(value) && (value instanceof JsonDraft ? this.#draft(value) : this.#value(value, this.#root, 0))
    } finally {
      this.#isWriting = false
    }
    // What did not fit has been written to nowhere.
    if (this.#at > this.#bytes.length) this.#grow()
    else if (isWritten) {
      this.#attempts.succeeded()
      return this.#view(this.#at)
    }
    this.#attempts.failed()
    return undefined
  }

  /** An object that is not made; what cannot be written of it is left to its `toJSON`. */
  #draft({ names, leads, values, texts, source }: JsonDraft): boolean {
    if (hasOwnForm(EMPTY)) return false
    for (let at = 0; at < leads.length; at += 1) {
      const lead = leads[at]
      if (lead === undefined) return false
      this.#copy(lead)
      const text = texts[at] ?? -1
      if (text >= 0 && source !== undefined) {
        this.#at = source.copyText(text, this.#bytes, this.#at)
        continue
      }
      const value = values[at]
      const holder = typeof value === 'object' ? this.#member(names[at] ?? '') : this.#root
      if (holder === undefined || !this.#value(value, holder, 1)) return false
    }
    if (leads.length === 0) this.#byte(OPEN_OBJECT)
    this.#byte(CLOSE_OBJECT)
    return true
  }

  #value(value: unknown, holder: Member, depth: number): boolean {
    switch (typeof value) {
      case 'string':
        return this.#string(value)
      case 'number':
        return this.#number(value)
      case 'boolean':
        return this.#ascii(value ? 'true' : 'false')
      case 'object':
        if (value === null) return this.#ascii('null')
        // What is too long already is not written to its end.
        if (depth >= DEPTH_MAX || this.#at > this.#bytes.length) return false
        return Array.isArray(value) ? this.#list(value, holder, depth + 1) : this.#object(value, holder, depth + 1)
      case 'undefined':
      case 'function':
      case 'symbol':
      case 'bigint':
        return false
    }
  }

  #object(object: object, holder: Member, depth: number): boolean {
    if (!isPlain(object)) return false
    let expected = holder.first
    let last: Member | undefined
    this.#byte(OPEN_OBJECT)
    // Nothing is inherited that would be listed: write() has looked.
    for (const name in object) {
      const value = object[name]
      if (value === undefined) continue
      const member = expected?.name === name ? expected : this.#member(name)
      if (member === undefined) return false
      if (last === undefined) holder.first = member
      else {
        last.next = member
        this.#byte(COMMA)
      }
      this.#copy(member.bytes)
      if (!this.#value(value, member, depth)) return false
      last = member
      expected = member.next
    }
    this.#byte(CLOSE_OBJECT)
    return true
  }

  #list(list: readonly unknown[], holder: Member, depth: number): boolean {
    if (!isPlainList(list)) return false
    this.#byte(OPEN_LIST)
    for (let index = 0; index < list.length; index += 1) {
      if (index > 0) this.#byte(COMMA)
      const item = list[index]
      const isWritten = item === undefined ? this.#ascii('null') : this.#value(item, holder, depth)
      if (!isWritten) return false
    }
    this.#byte(CLOSE_LIST)
    return true
  }

  /** The member of this name; `undefined` when there are too many. */
  #member(name: string): Member | undefined {
    const known = this.#names.get(name)
    if (known !== undefined || this.#names.size >= NAMES_MAX) return known
    const member = { name, bytes: Buffer.from(`${JSON.stringify(name)}:`), next: undefined, first: undefined }
    this.#names.set(name, member)
    return member
  }

  #string(text: string): boolean {
    const bytes = this.#bytes
    const { length } = text
    if (length > LOOP_LENGTH_MAX) return this.#escaped(text)
    const start = this.#at + 1
    for (let index = 0; index < length; index += 1) {
      const char = text.charCodeAt(index)
      if (char > 0x7f || PLAIN[char] !== 1) return this.#escaped(text)
      bytes[start + index] = char
    }
    this.#byte(QUOTE)
    this.#at = start + length
    this.#byte(QUOTE)
    return true
  }

  /** A string that is long, or has characters that are escaped or take more than a byte. */
  #escaped(text: string): boolean {
    const token = JSON.stringify(text)
    const length = Buffer.byteLength(token)
    if (this.#at + length <= this.#bytes.length) this.#bytes.write(token, this.#at)
    this.#at += length
    return true
  }

  #number(value: number): boolean {
    if (!Number.isSafeInteger(value)) return this.#ascii(Number.isFinite(value) ? String(value) : 'null')
    const absolute = Math.abs(value)
    // A negative zero is written as zero.
    if (value < 0) this.#byte(MINUS)
    if (absolute < PART) {
      this.#digits(absolute, digitsOf(absolute))
      return true
    }
    const high = Math.floor(absolute / PART)
    this.#digits(high, digitsOf(high))
    this.#digits(absolute - high * PART, 8)
    return true
  }

  #digits(value: number, count: number): void {
    const bytes = this.#bytes
    let rest = value
    for (let at = this.#at + count - 1; at >= this.#at; at -= 1) {
      const tenth = Math.floor(rest / 10)
      bytes[at] = ZERO + rest - tenth * 10
      rest = tenth
    }
    this.#at += count
  }

  /** Text of letters, digits and signs. */
  #ascii(text: string): boolean {
    const bytes = this.#bytes
    const start = this.#at
    for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index)
    this.#at = start + text.length
    return true
  }

  #copy(from: Uint8Array): void {
    const bytes = this.#bytes
    const start = this.#at
    const { length } = from
    for (let index = 0; index < length; index += 1) bytes[start + index] = from[index] ?? 0
    this.#at = start + length
  }

  #byte(byte: number): void {
    this.#bytes[this.#at] = byte
    this.#at += 1
  }

  #view(length: number): Buffer {
    if (length >= VIEWS_MAX) return this.#bytes.subarray(0, length)
    return (this.#views[length] ??= this.#bytes.subarray(0, length))
  }

  #grow(): void {
    if (this.#bytes.length >= BYTES_MAX) return
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(BYTES_MAX, this.#at * 2))
    this.#views = []
  }
}

/** Whether it is an object or a list, or something short that JSON has; and nobody has given all objects something to list. */
function isPlainTop(value: unknown): boolean {
  if (hasListed(EMPTY)) return false
  return typeof value !== 'number' || Number.isFinite(value)
}

function hasListed(object: object): boolean {
  let listed = 0
  for (const name in object) listed += name.length + 1
  return listed > 0
}

function isPlain(object: object): object is Readonly<Record<string, unknown>> {
  return Object.getPrototypeOf(object) === Object.prototype && !hasOwnForm(object)
}

function isPlainList(list: readonly unknown[]): boolean {
  return Object.getPrototypeOf(list) === Array.prototype && !hasOwnForm(list)
}

/** Whether the value says itself how it is written. */
function hasOwnForm(value: object & { readonly toJSON?: unknown }): boolean {
  return value.toJSON !== undefined
}

/** How many digits an integer below 10^8 has. */
function digitsOf(value: number): number {
  if (value < 1e4) return value < 1e2 ? (value < 10 ? 1 : 2) : value < 1e3 ? 3 : 4
  return value < 1e6 ? (value < 1e5 ? 5 : 6) : value < 1e7 ? 7 : 8
}
