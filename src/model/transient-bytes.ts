/** A slice of longer ones costs no more than their copy. */
const LENGTH_MAX = 128

/** A place for byte strings of one length, to be written as bytes or as words. */
interface Place {
  readonly bytes: Buffer
  readonly view: DataView
}

/**
 * Copies short byte strings out of a buffer to one place per length, because a slice would be an object per record. What it
 * gave is good until it is asked for another of the same length.
 */
export class TransientBytes {
  readonly #places: (Place | undefined)[] = []

  /** The `length` bytes of `from` at `at`, whose view is `fromView`: a copy, or a slice when they are many. */
  of(from: Buffer, fromView: DataView, at: number, length: number): Buffer {
    if (length > LENGTH_MAX) return from.subarray(at, at + length)
    const { bytes, view } = (this.#places[length] ??= newPlace(length))
    const words = length & ~3
    for (let index = 0; index < words; index += 4) view.setInt32(index, fromView.getInt32(at + index, true), true)
    for (let index = words; index < length; index += 1) bytes[index] = from[at + index] ?? 0
    return bytes
  }

  /** A place for `length` bytes to be written to; good for as long as what `of` gives, and it must not be asked in between. */
  place(length: number): Buffer {
    if (length > LENGTH_MAX) return Buffer.allocUnsafe(length)
    return (this.#places[length] ??= newPlace(length)).bytes
  }
}

function newPlace(length: number): Place {
  const bytes = Buffer.allocUnsafeSlow(length)
  return { bytes, view: new DataView(bytes.buffer) }
}
