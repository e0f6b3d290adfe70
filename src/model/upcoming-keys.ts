import { murmur2Within } from './murmur2.ts'

/** Enough to keep the memory busy, few enough to stay in the first cache until they are used. */
const KEYS_MAX = 16
const NO_VIEW = new DataView(new ArrayBuffer(0))

/**
 * Keys of the next records of a batch, for stores that look all of them up together: the memory a look-up needs is then
 * fetched for many keys at the same time, instead of waiting for it key after key.
 */
export class UpcomingKeys {
  /** Hashes of the keys; only the first `count` are set. */
  readonly hashes = new Int32Array(KEYS_MAX)
  /** Notes of the store that looks them up: an entry per key, or −1. */
  readonly entries = new Int32Array(KEYS_MAX)
  /** What look-ups read goes here, so that no compiler finds the reading useless. */
  touched = 0
  #view: DataView = NO_VIEW
  #count = 0

  get count(): number {
    return this.#count
  }

  get isFull(): boolean {
    return this.#count === KEYS_MAX
  }

  /** Forgets the keys and begins with those of another batch, whose bytes these are. */
  begin(view: DataView): void {
    this.#view = view
    this.#count = 0
  }

  /** Adds the key of the next record; `length` is −1 for none. */
  add(at: number, length: number): void {
    this.hashes[this.#count] = murmur2Within(this.#view, at, Math.max(0, length))
    this.#count += 1
  }

  clear(): void {
    this.begin(NO_VIEW)
  }
}
