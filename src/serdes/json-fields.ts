import { BEYOND_ASCII, SPECIAL } from './json-cursor.ts'
import { JsonReader } from './json-reader.ts'
import { MEMBERS_MAX, type JsonMember, type JsonPlace } from './json-shapes.ts'

const QUOTE = 0x22
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** More fields than this are looked for longer than an object takes to be made. */
export const FIELDS_MAX = 16

/** Longer texts are copied faster by the runtime. */
const COPIED_BYTES_MAX = 256

/** Of a member: which field it is has not been asked yet. */
const UNASKED = -2
/** Of a member: nobody asks for it. */
const UNWANTED = -1
/** Stands for a text that nobody has asked for yet. */
const UNREAD: unknown = Object.freeze({ unread: true })

/**
 * Some fields of a JSON text, in place of the object that `JSON.parse` would make of it: all of the text is checked, but texts
 * are made of its bytes only when somebody asks for them. Read once per record and good until the next; the bytes have to stay
 * as they are meanwhile.
 */
export class JsonFields extends JsonReader {
  readonly #names: readonly string[]
  /** Of each field: its value, `UNREAD`, or `undefined` where the text has no such field. */
  readonly #values: unknown[]
  /** Where the unread text of a field begins and ends, and the place it stands at. */
  readonly #starts: number[]
  readonly #ends: number[]
  readonly #places: (JsonPlace | undefined)[]
  /** Of each member, by its index: the field it is. */
  readonly #fieldOf = new Int8Array(MEMBERS_MAX)
  /** Whose members those are. */
  #root: JsonPlace | undefined

  /** @param names - at most `FIELDS_MAX` */
  constructor(names: Iterable<string>) {
    super()
    this.#names = [...names]
    this.#values = this.#names.map(() => undefined)
    this.#starts = this.#names.map(() => 0)
    this.#ends = this.#names.map(() => 0)
    this.#places = this.#names.map(() => undefined)
  }

  /** Reads the text between two places; false for one that `JSON.parse` has to read, or that is no object. */
  readFields(bytes: Buffer, start: number, end: number, root: JsonPlace): boolean {
    if (root !== this.#root) {
      this.#root = root
      this.#fieldOf.fill(UNASKED)
    }
    const values = this.#values
    for (let field = 0; field < values.length; field += 1) values[field] = undefined
    this.enter(bytes, start, end)
    this.isPassing = true
    const isRead = this.byte() === OPEN_OBJECT && this.#members(root)
    this.isPassing = false
    if (!isRead) return false
    this.passSpace()
    return this.at === end
  }

  /** Own field of the object; `undefined` where it has none. Only of the names that were given. */
  field(name: string): unknown {
    const names = this.#names
    for (let field = 0; field < names.length; field += 1) {
      if (names[field] !== name) continue
      return this.textOf(field)
    }
    return undefined
  }

  /** The number of a field that is a short text nobody has asked for yet, whose bytes stand for themselves; else −1. */
  unreadText(name: string): number {
    const names = this.#names
    for (let field = 0; field < names.length; field += 1) {
      if (names[field] !== name) continue
      const isShort = (this.#ends[field] ?? 0) - (this.#starts[field] ?? 0) <= COPIED_BYTES_MAX
      return this.#values[field] === UNREAD && isShort ? field : -1
    }
    return -1
  }

  /** The text of a field of which `unreadText` has told the number. */
  textOf(field: number): unknown {
    const value = this.#values[field]
    return value === UNREAD ? this.#text(field) : value
  }

  /** Copies that text with its quotes and returns where it ends there; what does not fit is left out. */
  copyText(field: number, target: Uint8Array, at: number): number {
    const { bytes } = this
    const from = (this.#starts[field] ?? 0) - 1
    const length = (this.#ends[field] ?? 0) + 1 - from
    for (let index = 0; index < length; index += 1) target[at + index] = bytes[from + index] ?? 0
    return at + length
  }

  /** Lets the bytes go. */
  release(): void {
    this.leave()
  }

  #text(field: number): unknown {
    const place = this.#places[field]
    if (place === undefined) return undefined
    return (this.#values[field] = this.plainText(place, this.#starts[field] ?? 0, this.#ends[field] ?? 0))
  }

  #members(root: JsonPlace): boolean {
    let ways = root.starts
    for (;;) {
      const member = this.next(ways)
      if (member === undefined) return this.passEnd(ways === root.starts)
      if (!this.#member(member)) return false
      if (this.byte() === CLOSE_OBJECT) {
        this.at += 1
        return true
      }
      ways = member.followers
    }
  }

  #member(member: JsonMember): boolean {
    const known = this.#fieldOf[member.index] ?? UNWANTED
    const field = known === UNASKED ? this.#ask(member) : known
    if (this.byte() === QUOTE) {
      const start = this.at + 1
      const kind = this.passPlain()
      if (kind !== SPECIAL && kind !== BEYOND_ASCII) {
        if (field === UNWANTED) return true
        this.#values[field] = UNREAD
        this.#starts[field] = start
        this.#ends[field] = this.at - 1
        this.#places[field] = member.place
        return true
      }
      this.at = start - 1
    }
    this.isPassing = field === UNWANTED
    const value = this.value(member.place)
    if (value === undefined) return false
    if (field !== UNWANTED) this.#values[field] = value
    return true
  }

  #ask(member: JsonMember): number {
    return (this.#fieldOf[member.index] = this.#names.indexOf(member.name))
  }
}
