/** One aborted transaction of a partition, as a Fetch response tells it. */
export interface AbortedTransaction {
  readonly producerId: number
  /** Offset of its first record. */
  readonly firstOffset: number
}

/**
 * Tells which batches of a partition belong to aborted transactions, batch by batch in offset order.
 * Kafka: `CompletedFetch`, whose queue is ordered by first offset.
 */
export class AbortFilter {
  #pending: readonly AbortedTransaction[] = []
  #next = 0
  readonly #aborting = new Set<number>()

  /** Starts over with the aborted transactions of another block. */
  reset(aborted: readonly AbortedTransaction[]): void {
    // Brokers list them in order of their abort markers: of two that overlap the later beginning may come first.
    this.#pending = aborted.length > 1 ? aborted.toSorted((a, b) => a.firstOffset - b.firstOffset) : aborted
    this.#next = 0
    this.#aborting.clear()
  }

  /** Whether a transactional data batch is to be left out. */
  isAborted(producerId: number, lastOffset: number): boolean {
    this.#advance(lastOffset)
    return this.#aborting.has(producerId)
  }

  /** A commit or abort marker ends the producer's transaction: what follows belongs to its next one. */
  ended(producerId: number, lastOffset: number): void {
    this.#advance(lastOffset)
    this.#aborting.delete(producerId)
  }

  #advance(lastOffset: number): void {
    let next = this.#pending[this.#next]
    while (next !== undefined && next.firstOffset <= lastOffset) {
      this.#aborting.add(next.producerId)
      this.#next += 1
      next = this.#pending[this.#next]
    }
  }
}
