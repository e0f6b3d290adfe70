import { BEYOND_ASCII, JsonCursor, PLAIN, SPECIAL } from './json-cursor.ts'
import { PATIENCE_MAX, RECENT_TEXTS, type JsonPlace } from './json-shapes.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Longer texts are hardly ever repeated. */
const RECENT_LENGTH_MAX = 40
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

/**
 * Reads JSON texts that are written as others before, with the same keys in the same order, and gives what `JSON.parse` would;
 * or gives up. `JSON.parse` takes 1.4 to 2.6 times as long, because it looks up each text of up to ten characters, and each
 * key, in a table of the runtime that grows with the texts (docs/performance.md).
 */
export class JsonReader extends JsonCursor {
  /** Whether nobody wants what is read: it is only passed over. */
  protected isPassing = false

  /** The value, or `undefined` for a text that `JSON.parse` has to read. */
  read(bytes: Buffer, root: JsonPlace): unknown {
    this.enter(bytes, 0, bytes.length)
    const value = this.value(root)
    if (value !== undefined) this.passSpace()
    this.leave()
    return this.at === this.end ? value : undefined
  }

  /** The value that comes next. */
  protected value(place: JsonPlace): unknown {
    const byte = this.byte()
    switch (byte) {
      case QUOTE:
        return this.#string(place)
      case OPEN_OBJECT:
        return this.#object(place)
      case OPEN_LIST:
        return this.#list(place)
      case 0x74:
        return this.matches(TRUE) ? true : undefined
      case 0x66:
        return this.matches(FALSE) ? false : undefined
      case 0x6e:
        return this.matches(NULL) ? null : undefined
      default:
        return this.number(byte)
    }
  }

  #object(place: JsonPlace): unknown {
    const { isPassing } = this
    const object: Record<string, unknown> = {}
    let ways = place.starts
    for (;;) {
      const member = this.next(ways)
      if (member === undefined) break
      const value = this.value(member.place)
      if (value === undefined) return undefined
      if (!isPassing) object[member.name] = value
      ways = member.followers
      if (this.byte() === CLOSE_OBJECT) {
        this.at += 1
        return object
      }
    }
    return this.passEnd(ways === place.starts) ? object : undefined
  }

  /** Passes over the end of an object that is empty, or whose end is on a line of its own. */
  protected passEnd(isEmpty: boolean): boolean {
    if (isEmpty) this.at += 1
    this.passSpace()
    if (this.byte() !== CLOSE_OBJECT) return false
    this.at += 1
    return true
  }

  #list({ elements }: JsonPlace): unknown {
    const list: unknown[] = []
    this.at += 1
    this.passSpace()
    if (this.byte() === CLOSE_LIST) {
      this.at += 1
      return list
    }
    if (elements === undefined) return undefined
    for (;;) {
      const value = this.value(elements)
      if (value === undefined) return undefined
      if (!this.isPassing) list.push(value)
      this.passSpace()
      const byte = this.byte()
      this.at += 1
      if (byte === CLOSE_LIST) return list
      if (byte !== COMMA) return undefined
      this.passSpace()
    }
  }

  #string(place: JsonPlace): string | undefined {
    const start = this.at + 1
    const kind = this.passPlain()
    if (kind === SPECIAL) return this.escaped()
    const end = this.at - 1
    if (this.isPassing && kind === PLAIN) return ''
    return kind === BEYOND_ASCII ? this.decoded(start, end) : this.plainText(place, start, end)
  }

  /** The text of bytes that stand for themselves: the one that stood there before where it is the same. */
  protected plainText(place: JsonPlace, start: number, end: number): string {
    const length = end - start
    if (length === 0) return ''
    if (length > RECENT_LENGTH_MAX || place.patience === 0) return this.piece(start, end)
    const { bytes } = this
    const slot = ((bytes[start] ?? 0) + (bytes[end - 1] ?? 0) + length) & (RECENT_TEXTS - 1)
    const known = place.recent[slot] ?? ''
    if (known.length === length && this.isAt(start, known)) {
      place.patience = PATIENCE_MAX
      return known
    }
    place.patience -= 1
    return (place.recent[slot] = this.piece(start, end))
  }
}
