/** Above that no transaction is bounded any more: others end it long before. */
const RECORDS_UNBOUNDED = 65_536
/** Of the time a commit may take, what one has to stay below for the next transaction to grow. */
const QUICK_SHARE = 1 / 4

/**
 * How many input records one transaction may take: no bound, until one could not be brought to its end in time. Done again as
 * it was it would run into the same limit for ever, where the way to the brokers is slow.
 */
export class TransactionSize {
  readonly #commitMsMax: number
  #recordsMax = Number.POSITIVE_INFINITY

  /** @param commitMsMax - how long a commit may take before something times out */
  constructor(commitMsMax: number) {
    this.#commitMsMax = commitMsMax
  }

  get recordsMax(): number {
    return this.#recordsMax
  }

  /** A transaction of so many input records ran out of time. Told again of the same one it changes nothing. */
  timedOut(records: number): void {
    if (records > 0) this.#recordsMax = Math.max(1, Math.floor(records / 2))
  }

  /** One was committed. The next may be twice as large if this one was full and quick. */
  committed(records: number, tookMs: number): void {
    if (records < this.#recordsMax || tookMs > this.#commitMsMax * QUICK_SHARE) return
    this.#recordsMax = this.#recordsMax * 2 > RECORDS_UNBOUNDED ? Number.POSITIVE_INFINITY : this.#recordsMax * 2
  }
}
