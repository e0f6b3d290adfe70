import type { Clock } from '../../model/clock.ts'

const LIFE_MS = 2_500
/** A life that lasts longer than planned still gets input, one record after the other, so that it has transactions to be killed in. */
const TRICKLE_PER_MS = 0.05

/**
 * How much of the input may be written by now: one equal part per life of the application, spread over the time that a
 * life is expected to last, and everything once no kill is left.
 */
export class InputPace {
  readonly #clock: Clock
  readonly #records: number
  readonly #lives: number
  #life = 0
  #lifeStartedMs: number
  #unlimited = false

  constructor(clock: Clock, records: number, kills: number) {
    this.#clock = clock
    this.#records = records
    this.#lives = kills + 1
    this.#lifeStartedMs = clock.nowMs()
  }

  /** The next life begins. */
  nextLife(): void {
    this.#life += 1
    this.#lifeStartedMs = this.#clock.nowMs()
  }

  /** No kill is left: the rest may be written at once. */
  release(): void {
    this.#unlimited = true
  }

  /** Committed records that may have been written by now. */
  allowed(): number {
    if (this.#unlimited) return this.#records
    const ageMs = this.#clock.nowMs() - this.#lifeStartedMs
    const part = this.#records / this.#lives
    const lives = Math.min(this.#life, this.#lives - 1)
    const paced = part * (lives + Math.min(1, ageMs / LIFE_MS))
    return Math.min(this.#records, paced + Math.max(0, ageMs - LIFE_MS) * TRICKLE_PER_MS)
  }
}
