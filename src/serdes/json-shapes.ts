/** How many members are remembered in all: what has more is no record with fields but a dictionary. */
export const MEMBERS_MAX = 128
/** How many ways to go on behind a member are remembered: there are several where fields are optional. */
const WAYS_MAX = 8
/** Values that lie deeper are not remembered, so whoever reads along what is remembered recurses no deeper either. */
const DEPTH_MAX = 16
/** How many texts are remembered where values stand; a power of two. */
export const RECENT_TEXTS = 8
/** As many texts in a row may be new before a place gives up comparing them with the last ones. */
export const PATIENCE_MAX = 64

const STRING_TOKEN = /"(?:[^"\\]|\\.)*"/y
const SCALAR_TOKEN = /[^\s,\]}]+/y
const SPACE = /[ \t\n\r]*/y

/** A place in JSON texts where a value stands, with what has been seen there. */
export interface JsonPlace {
  /** Members that objects have begun with here. */
  readonly starts: JsonMember[]
  /** All members of objects here: whichever way led to one, it is followed by the same. */
  readonly members: JsonMember[]
  /** Where the elements of lists stand; `undefined` while there was none. */
  elements: JsonPlace | undefined
  /** Texts that have stood here, to be given again instead of made again. */
  readonly recent: string[]
  /** How many more texts may be other ones than before; 0 = it is not looked any more. */
  patience: number
}

/** A member of objects. */
export interface JsonMember {
  readonly name: string
  /** Which one it is of all that its shapes have, from 0. */
  readonly index: number
  /** What stands in front of its value, byte for byte: from the brace, or from the end of the value before it. */
  readonly lead: Uint8Array
  readonly place: JsonPlace
  /** Members that have come next. */
  readonly followers: JsonMember[]
}

/** How texts were written: their keys in order, and everything between their values. */
export class JsonShapes {
  /** Where whole texts stand. */
  readonly root = newPlace()
  #members = 0
  #text = ''
  #at = 0

  /** Whether nothing more can be remembered. */
  get isFull(): boolean {
    return this.#members >= MEMBERS_MAX
  }

  /** Remembers how a text is written, or a part of it where there is no room; the text is one that `JSON.parse` accepts. */
  learn(text: string): void {
    this.#text = text
    this.#at = 0
    this.#pass(SPACE)
    this.#value(this.root, 0)
    this.#text = ''
  }

  /** Passes over a value; false when the rest of the text is not to be remembered. */
  #value(place: JsonPlace, depth: number): boolean {
    switch (this.#text.charAt(this.#at)) {
      case '{':
        return depth < DEPTH_MAX && this.#object(place, depth + 1)
      case '[':
        return depth < DEPTH_MAX && this.#list(place, depth + 1)
      case '"':
        return this.#pass(STRING_TOKEN) !== ''
      default:
        return this.#pass(SCALAR_TOKEN) !== ''
    }
  }

  #object(place: JsonPlace, depth: number): boolean {
    let ways = place.starts
    let leadAt = this.#at
    this.#at += 1
    for (;;) {
      this.#pass(SPACE)
      if (this.#take('}')) return true
      if (this.#take(',')) this.#pass(SPACE)
      const key = this.#pass(STRING_TOKEN)
      this.#pass(SPACE)
      if (!this.#take(':')) return false
      this.#pass(SPACE)
      const member = this.#member(place, ways, key, this.#text.slice(leadAt, this.#at))
      if (member === undefined || !this.#value(member.place, depth)) return false
      ways = member.followers
      leadAt = this.#at
    }
  }

  #list(place: JsonPlace, depth: number): boolean {
    this.#at += 1
    for (;;) {
      this.#pass(SPACE)
      if (this.#take(']')) return true
      if (this.#take(',')) this.#pass(SPACE)
      place.elements ??= newPlace()
      if (!this.#value(place.elements, depth)) return false
    }
  }

  /** The way on with this lead, made if need be; `undefined` where there is no room, or the name is not for us. */
  #member(place: JsonPlace, ways: JsonMember[], key: string, lead: string): JsonMember | undefined {
    const bytes = Buffer.from(lead, 'utf8')
    const way = ways.find(member => bytes.equals(member.lead))
    if (way !== undefined) return way
    if (ways.length >= WAYS_MAX) return undefined
    const member = place.members.find(other => bytes.equals(other.lead)) ?? this.#newMember(place, key, bytes)
    if (member !== undefined) ways.push(member)
    return member
  }

  #newMember(place: JsonPlace, key: string, lead: Uint8Array): JsonMember | undefined {
    const name: unknown = JSON.parse(key)
    // Names that every object inherits: assigning to them may do other than JSON.parse, and some are refused altogether.
    if (this.isFull || typeof name !== 'string' || name in Object.prototype) return undefined
    const member: JsonMember = { name, index: this.#members, lead, place: newPlace(), followers: [] }
    place.members.push(member)
    this.#members += 1
    return member
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at += 1
    return true
  }

  #pass(token: RegExp): string {
    token.lastIndex = this.#at
    const passed = token.exec(this.#text)?.[0] ?? ''
    this.#at += passed.length
    return passed
  }
}

function newPlace(): JsonPlace {
  return {
    starts: [],
    members: [],
    elements: undefined,
    recent: Array.from({ length: RECENT_TEXTS }, () => ''),
    patience: PATIENCE_MAX,
  }
}
