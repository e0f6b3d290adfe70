import type { Clock, Timer } from '../../model/clock.ts'

/** One timer for many who want to be woken: it goes off at the earliest time that was asked for. */
export class EarliestAlarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #timer: Timer | undefined
  #atMs = 0

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Rings at a monotonic time, or earlier; in at least 1 ms. */
  wakeAt(atMs: number): void {
    if (this.#timer !== undefined && this.#atMs <= atMs) return
    this.#timer?.cancel()
    this.#atMs = atMs
    this.#timer = this.#clock.after(Math.max(1, atMs - this.#clock.nowMs()), () => {
      this.#timer = undefined
      this.#ring()
    })
  }

  /** Does not ring. */
  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
