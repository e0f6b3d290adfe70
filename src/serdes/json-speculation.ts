import { JsonReader } from './json-reader.ts'
import { JsonShapes } from './json-shapes.ts'
import type { SerdeContext } from './serde.ts'

/** Longer texts gain nothing: most of them is text between quotes, which the runtime reads faster. */
const TEXT_BYTES_MAX = 65_536
/** Texts whose shape is remembered before that has to prove itself. */
const LESSONS_MAX = 32
/** So many more failures than successes end the attempts for a while. */
const CREDIT_MAX = 64
/** Texts for which nothing is attempted after that; twice as many after each time that brought nothing. */
const PAUSE_TEXTS_MIN = 2_048
const PAUSE_TEXTS_MAX = 65_536
/** A pause is short again after so many successes. */
const PROOF_TEXTS = 4_096
/** Topics whose texts are remembered at a time. */
const TOPICS_MAX = 128

/**
 * Reads the texts of one side of one topic in the hope that they are written as those before them. Where the hope fails too
 * often it is given up for a while, so that texts of all sorts cost little more than without it.
 */
export class JsonSpeculation {
  readonly #reader = new JsonReader()
  #shapes = new JsonShapes()
  #lessons = 0
  #credit = CREDIT_MAX
  #pauseTexts = PAUSE_TEXTS_MIN
  #pauseLeft = 0
  #successes = 0

  /** The value of a text, or `undefined` when `JSON.parse` has to read it; then `parsed` is to be told how it went. */
  read(bytes: Buffer): unknown {
    if (this.#pauseLeft > 0 || bytes.length > TEXT_BYTES_MAX) return undefined
    const value = this.#reader.read(bytes, this.#shapes.root)
    if (value === undefined) return undefined
    if (this.#credit < CREDIT_MAX) this.#credit += 1
    this.#successes += 1
    return value
  }

  /** A text that `read` did not know was accepted by `JSON.parse`. */
  parsed(text: string): void {
    if (this.#pauseLeft > 0) {
      this.#pauseLeft -= 1
      return
    }
    if (text.length > TEXT_BYTES_MAX) return
    if (this.#lessons < LESSONS_MAX) {
      this.#lessons += 1
      this.#shapes.learn(text)
    }
    this.#credit -= 1
    if (this.#credit <= 0) this.#pause()
  }

  /** Forgets everything: when it is tried again, the texts may be others. */
  #pause(): void {
    this.#pauseTexts =
      this.#successes >= PROOF_TEXTS ? PAUSE_TEXTS_MIN : Math.min(this.#pauseTexts * 2, PAUSE_TEXTS_MAX)
    this.#pauseLeft = this.#pauseTexts
    this.#credit = CREDIT_MAX
    this.#lessons = 0
    this.#successes = 0
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
