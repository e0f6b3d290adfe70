import type { Random } from '../../model/clock.ts'

const FACTOR = 2
/** Spread around each delay, so that many clients of one dead broker do not come back together. */
const JITTER = 0.2

/** Growing delays between attempts. Kafka: `ExponentialBackoff` (`retry.backoff.ms`, `retry.backoff.max.ms`). */
export class Backoff {
  readonly #initialMs: number
  readonly #maxMs: number
  readonly #random: Random
  #nextMs: number

  /** @param random - `() => 0.5` gives delays without jitter */
  constructor(initialMs: number, maxMs: number, random: Random) {
    this.#initialMs = initialMs
    this.#maxMs = maxMs
    this.#random = random
    this.#nextMs = initialMs
  }

  /** The delay before the next attempt, in milliseconds. */
  next(): number {
    const delayMs = this.#nextMs
    this.#nextMs = Math.min(this.#maxMs, delayMs * FACTOR)
    return delayMs * (1 + JITTER * (2 * this.#random() - 1))
  }

  /** Begins again with the shortest delay. */
  reset(): void {
    this.#nextMs = this.#initialMs
  }
}
