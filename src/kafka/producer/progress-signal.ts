import type { Clock } from '../../model/clock.ts'

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
}
