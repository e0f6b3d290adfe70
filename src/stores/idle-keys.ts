/** So many are kept in any case. */
const IDLE_MIN = 1_024
/** More keys than this times the most that had rows together are too many. */
const KEPT_PER_USED = 1.5
const QUEUED = 1
const IDLE = 2

/**
 * The numbers of keys that have no row at present. They are kept for a while, the latest ones longest: most keys of one
 * window are those of the next one too, and to forget a key and to learn it again costs more than all else about a row.
 */
export class IdleKeys {
  /** By number: whether it is in the queue, and whether it is idle; one that is not idle any more stays in the queue. */
  #flags = new Uint8Array(IDLE_MIN)
  /** A ring; its length is a power of two. */
  #queue = new Int32Array(IDLE_MIN)
  #first = 0
  #queued = 0
  #idle = 0
  /** Most keys with rows so far. */
  #usedMax = 0

  /** Takes in a key that has lost its last row. */
  add(key: number): void {
    if (key >= this.#flags.length) this.#growFlags(key)
    const flags = this.#flags[key] ?? 0
    this.#flags[key] = IDLE | QUEUED
    if ((flags & IDLE) === 0) this.#idle += 1
    if ((flags & QUEUED) === 0) this.#push(key)
  }

  /** Notes that a key has got its first row; `size` is the number of all keys. */
  take(key: number, size: number): void {
    const flags = this.#flags[key] ?? 0
    if ((flags & IDLE) !== 0) {
      this.#flags[key] = flags & ~IDLE
      this.#idle -= 1
    }
    const used = size - this.#idle
    if (used > this.#usedMax) this.#usedMax = used
  }

  /** The key that has been idle longest, when there are too many of `size` keys; it is to be forgotten. −1 for none. */
  next(size: number): number {
    if (this.#idle === 0 || size <= IDLE_MIN || size <= this.#usedMax * KEPT_PER_USED) return -1
    for (;;) {
      const key = this.#shift()
      const flags = this.#flags[key] ?? 0
      this.#flags[key] = 0
      if ((flags & IDLE) === 0) continue
      this.#idle -= 1
      return key
    }
  }

  clear(): void {
    this.#flags.fill(0)
    this.#first = 0
    this.#queued = 0
    this.#idle = 0
    this.#usedMax = 0
  }

  #push(key: number): void {
    if (this.#queued === this.#queue.length) this.#growQueue()
    this.#queue[(this.#first + this.#queued) & (this.#queue.length - 1)] = key
    this.#queued += 1
  }

  #shift(): number {
    const key = this.#queue[this.#first] ?? -1
    this.#first = (this.#first + 1) & (this.#queue.length - 1)
    this.#queued -= 1
    return key
  }

  #growQueue(): void {
    const { length } = this.#queue
    const queue = new Int32Array(length * 2)
    for (let at = 0; at < length; at += 1) queue[at] = this.#queue[(this.#first + at) & (length - 1)] ?? -1
    this.#queue = queue
    this.#first = 0
  }

  #growFlags(key: number): void {
    const flags = new Uint8Array(Math.max(key + 1, this.#flags.length * 2))
    flags.set(this.#flags)
    this.#flags = flags
  }
}
