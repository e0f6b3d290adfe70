import { copyBytes } from '../model/copy-bytes.ts'
import { TransientBytes } from '../model/transient-bytes.ts'

/** What stands behind a row's key in its changelog key. */
export interface LogKeyTail {
  /** How many bytes. */
  readonly bytes: number
  write(into: Buffer, at: number, time: number, tag: number): void
}

/** Makes the changelog keys of rows: the row's key, and behind it its time and tag. */
export class LogKeys {
  readonly #tail: LogKeyTail
  readonly #places = new TransientBytes()
  /** What was written last to a place, and its tail: most records fall into the window of the one before. */
  #lastPlace: Buffer | undefined
  #lastTime = 0
  #lastTag = 0

  constructor(tail: LogKeyTail) {
    this.#tail = tail
  }

  /** The key of a row for whoever copies it: the bytes are others with the next one. */
  lent(key: Uint8Array, time: number, tag: number): Uint8Array {
    const place = this.#places.place(key.length + this.#tail.bytes)
    if (place === this.#lastPlace && time === this.#lastTime && tag === this.#lastTag) {
      copyBytes(key, place, 0)
      return place
    }
    // A tail that is refused may have been written in part.
    this.#lastPlace = undefined
    this.#write(place, key, time, tag)
    this.#lastPlace = place
    this.#lastTime = time
    this.#lastTag = tag
    return place
  }

  /** The key of a row for whoever keeps it. */
  kept(key: Uint8Array, time: number, tag: number): Uint8Array {
    return this.#write(Buffer.allocUnsafe(key.length + this.#tail.bytes), key, time, tag)
  }

  #write(bytes: Buffer, key: Uint8Array, time: number, tag: number): Uint8Array {
    copyBytes(key, bytes, 0)
    this.#tail.write(bytes, key.length, time, tag)
    return bytes
  }
}
