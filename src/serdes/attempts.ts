/** So many more failures than successes end the attempts for a while. */
const CREDIT_MAX = 64
/** How often nothing is attempted after that; twice as often after each time that brought nothing. */
const PAUSE_MIN = 2_048
const PAUSE_MAX = 65_536
/** A pause is short again after so many successes. */
const PROOF = 4_096

/**
 * Whether to go on attempting what is quick when it succeeds and in vain when it fails: given up for a while where it fails more
 * often than not, so that it costs little where it never succeeds.
 */
export class Attempts {
  #credit = CREDIT_MAX
  #successes = 0
  #pause = PAUSE_MIN
  #pauseLeft = 0

  /** To be asked before each attempt; false in a pause. */
  isWorthIt(): boolean {
    if (this.#pauseLeft === 0) return true
    this.#pauseLeft -= 1
    return false
  }

  succeeded(): void {
    this.#successes += 1
    if (this.#credit < CREDIT_MAX) this.#credit += 1
  }

  /** Returns whether a pause begins. */
  failed(): boolean {
    this.#credit -= 1
    if (this.#credit > 0) return false
    this.#pause = this.#successes >= PROOF ? PAUSE_MIN : Math.min(this.#pause * 2, PAUSE_MAX)
    this.#pauseLeft = this.#pause
    this.#credit = CREDIT_MAX
    this.#successes = 0
    return true
  }
}
