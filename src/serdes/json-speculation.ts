import { Attempts } from './attempts.ts'
import type { JsonFields } from './json-fields.ts'
import { JsonReader } from './json-reader.ts'
import { JsonShapes } from './json-shapes.ts'
import type { SerdeContext } from './serde.ts'

/** Longer texts gain nothing: most of them is text between quotes, which the runtime reads faster. */
const TEXT_BYTES_MAX = 65_536
/** Texts whose shape is remembered before that has to prove itself. */
const LESSONS_MAX = 32
/** Topics whose texts are remembered at a time. */
const TOPICS_MAX = 128

/**
 * Reads the texts of one side of one topic in the hope that they are written as those before them. Where the hope fails too
 * often it is given up for a while, so that texts of all sorts cost little more than without it.
 */
export class JsonSpeculation {
  readonly #reader = new JsonReader()
  readonly #attempts = new Attempts()
  #shapes = new JsonShapes()
  #lessons = 0
  /** Whether the last text was tried. */
  #hasTried = false

  /** The value of a text, or `undefined` when `JSON.parse` has to read it; then `parsed` is to be told if it has. */
  read(bytes: Buffer): unknown {
    this.#hasTried = bytes.length <= TEXT_BYTES_MAX && this.#attempts.isWorthIt()
    if (!this.#hasTried) return undefined
    const value = this.#reader.read(bytes, this.#shapes.root)
    if (value !== undefined) this.#attempts.succeeded()
    return value
  }

  /** As `read`, of the text between two places, for `fields`; false when `JSON.parse` has to read it. */
  readFields(fields: JsonFields, bytes: Buffer, start: number, end: number): boolean {
    this.#hasTried = end - start <= TEXT_BYTES_MAX && this.#attempts.isWorthIt()
    if (!this.#hasTried || !fields.readFields(bytes, start, end, this.#shapes.root)) return false
    this.#attempts.succeeded()
    return true
  }

  /** The text that was not known was accepted by `JSON.parse`. */
  parsed(text: string): void {
    if (!this.#hasTried) return
    if (this.#lessons < LESSONS_MAX) {
      this.#lessons += 1
      this.#shapes.learn(text)
    }
    if (!this.#attempts.failed()) return
    // When it is tried again, the texts may be others.
    this.#lessons = 0
    this.#shapes = new JsonShapes()
  }
}

/** What is remembered of the texts of each topic; of all of this thread. */
export class JsonSpeculations {
  readonly #keys = new Map<string, JsonSpeculation>()
  readonly #values = new Map<string, JsonSpeculation>()
  #topic = ''
  #side: SerdeContext['side'] | undefined
  #last = new JsonSpeculation()

  /** That of a topic's side. Records of a topic come many in a row, so the last one is at hand. */
  of(topic: string, side: SerdeContext['side']): JsonSpeculation {
    if (topic === this.#topic && side === this.#side) return this.#last
    const known = side === 'key' ? this.#keys : this.#values
    let speculation = known.get(topic)
    if (speculation === undefined) {
      if (known.size >= TOPICS_MAX) known.clear()
      speculation = new JsonSpeculation()
      known.set(topic, speculation)
    }
    this.#topic = topic
    this.#side = side
    this.#last = speculation
    return speculation
  }
}
