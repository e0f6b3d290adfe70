/** A broker gives at least one batch, so that there is no use in asking for less than a small one. */
const BYTES_MIN = 4_096
/** Less by that much after an answer that did not come. */
const STEP = 4
/** An answer that took less than that part of the wait that was too long leaves room for one twice as large. */
const QUICK_PART = 8

/**
 * How much fetches from one broker ask for: less after an answer that did not come in time, because over a slow link the same
 * request would fail again without end; more again where answers come soon.
 */
export class AnswerSize {
  #divisor = 1
  #tooLongMs = 0

  /** A bound in bytes, as it is to be asked for now. */
  of(bytes: number): number {
    return this.#divisor === 1 ? bytes : Math.min(bytes, Math.max(BYTES_MIN, Math.floor(bytes / this.#divisor)))
  }

  /** An answer did not come within that time. `bytes` is the larger of the bounds that were asked for. */
  late(afterMs: number, bytes: number): void {
    this.#tooLongMs = afterMs
    if (bytes > BYTES_MIN) this.#divisor *= STEP
  }

  /** An answer with records came. */
  came(tookMs: number): void {
    if (this.#divisor > 1 && tookMs * QUICK_PART < this.#tooLongMs) this.#divisor /= 2
  }
}
