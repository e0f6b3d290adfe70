const LETTERS = 'abcdefghijklmnop'

/** Chance that is the same in every run: a linear congruential generator modulo 2^32 (Numerical Recipes' constants). */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A number from 0 to `bound` − 1. */
  below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    // The low bits of such a generator have short periods.
    return Math.floor((this.#state / 4_294_967_296) * bound)
  }

  /** A text of letters, one byte each, that compresses to about half. */
  text(length: number): string {
    let text = ''
    for (let i = 0; i < length; i += 1) text += LETTERS[this.below(LETTERS.length)] ?? ''
    return text
  }
}
