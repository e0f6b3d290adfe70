/** The numbers by which the transactions of a stream thread are told apart, in offset metadata and in provenance. */
export class TransactionNumbers {
  #last: number

  /** @param start - random, so that a number left by an earlier life is never mistaken for one of this life; below 2^52, which leaves as many to count on */
  constructor(start: number) {
    this.#last = start
  }

  /** The number of what is being written now, for the commit that makes it visible. */
  get upcoming(): number {
    return this.#last + 1
  }

  /** Takes the number of the transaction that is about to be committed. */
  readonly take = (): number => {
    this.#last += 1
    return this.#last
  }

  /** What was written under the present number will never be visible: the next attempt is another transaction. */
  readonly forgotten = (): void => {
    this.#last += 1
  }
}
