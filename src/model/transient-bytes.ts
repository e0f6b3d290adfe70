/** Longer ones are rare as keys, and a slice of them costs no more than their copy. */
const LENGTH_MAX = 64

/**
 * Copies short byte strings out of a buffer to one place per length, because a slice would be an object per record. What it
 * gave is good until it is asked for another of the same length.
 */
export class TransientBytes {
  readonly #places: Buffer[] = []

  /** The `length` bytes of `from` at `at`: a copy, or a slice when they are many. */
  of(from: Buffer, at: number, length: number): Buffer {
    if (length > LENGTH_MAX) return from.subarray(at, at + length)
    const place = this.#places[length] ?? this.#addPlaces(length)
    for (let index = 0; index < length; index += 1) place[index] = from[at + index] ?? 0
    return place
  }

  #addPlaces(length: number): Buffer {
    for (let missing = this.#places.length; missing <= length; missing += 1) {
      this.#places.push(Buffer.allocUnsafeSlow(missing))
    }
    return this.#places[length] ?? this.#addPlaces(length)
  }
}
