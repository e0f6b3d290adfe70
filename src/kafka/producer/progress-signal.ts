import type { Clock } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'
import type { Deadline } from '../cluster/deadline.ts'

/** Lets callers wait until something has moved on; they look again and wait again. */
export class ProgressSignal {
  readonly #clock: Clock
  readonly #waiting = new Set<() => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Wakes everyone who waits. */
  notify(): void {
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  /** Resolves at the next `notify`, or after `timeoutMs`. */
  next(timeoutMs: number): Promise<void> {
    return new Promise(resolve => {
      const wake = (): void => {
        timer.cancel()
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = this.#clock.after(Math.max(0, timeoutMs), wake)
      this.#waiting.add(wake)
    })
  }

  /**
   * As `next`, within a deadline.
   *
   * @param what - completes "… within N ms" in the message
   * @throws MillraceError `REQUEST_TIMED_OUT` when the deadline has passed
   */
  nextUntil(deadline: Deadline, what: string): Promise<void> {
    if (!deadline.passed) return this.next(deadline.remainingMs)
    const error = new MillraceError('REQUEST_TIMED_OUT', { what: `${what} within ${String(deadline.totalMs)} ms.` })
    return Promise.reject(error)
  }
}
