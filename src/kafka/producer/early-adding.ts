/** After the end of a transaction its markers are written for about so long; meanwhile the next one is refused (51). */
const MARKERS_MS = 3
const FIRST_GAP_MS = 2

/**
 * When partitions are added to a transaction before they are needed: what is asked while records wait for `linger.ms`
 * anyway does not hold up the commit. The gaps double within a transaction, so that partitions that are first written one
 * by one do not cost a request each; what is left is added with its first batch.
 */
export class EarlyAdding {
  #nextMs = 0
  #gapMs = FIRST_GAP_MS
  #lastMs = -1

  /** Whether partitions may be added now, by the monotonic clock; all those of one moment may, or none. */
  allows(nowMs: number): boolean {
    if (nowMs === this.#lastMs) return true
    if (nowMs < this.#nextMs) return false
    this.#lastMs = nowMs
    this.#nextMs = nowMs + this.#gapMs
    this.#gapMs *= 2
    return true
  }

  /** A transaction has ended. */
  restart(nowMs: number): void {
    this.#nextMs = nowMs + MARKERS_MS
    this.#gapMs = FIRST_GAP_MS
    this.#lastMs = -1
  }
}
