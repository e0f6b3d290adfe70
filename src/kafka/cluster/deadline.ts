import type { Clock } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'

/** A point in monotonic time until which something may be tried. */
export class Deadline {
  readonly #clock: Clock
  readonly #endsAtMs: number
  /** How long it was at first, for messages. */
  readonly totalMs: number

  constructor(clock: Clock, totalMs: number) {
    this.#clock = clock
    this.#endsAtMs = clock.nowMs() + totalMs
    this.totalMs = totalMs
  }

  /** What is left, in milliseconds; never negative. */
  get remainingMs(): number {
    return Math.max(0, this.#endsAtMs - this.#clock.nowMs())
  }

  get passed(): boolean {
    return this.remainingMs === 0
  }

  /**
   * Waits for a result no longer than the deadline; the work itself goes on.
   *
   * @param what - completes "… within N ms" in the message
   * @throws MillraceError `REQUEST_TIMED_OUT`
   */
  async bound<T>(what: string, work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const timer = this.#clock.after(this.remainingMs, () => {
        reject(new MillraceError('REQUEST_TIMED_OUT', { what: `${what} within ${String(this.totalMs)} ms.` }))
      })
      work.then(resolve, reject).finally(() => {
        timer.cancel()
      })
    })
  }
}
