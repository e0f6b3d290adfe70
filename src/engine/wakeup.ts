import type { Clock, Timer } from '../model/clock.ts'

/** Lets the loop sleep until something happens or a time is up. A signal given while nobody waits is kept. */
export class Wakeup {
  readonly #clock: Clock
  #signalled = false
  #resume: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Wakes the waiter; safe to call from any callback, any number of times. */
  readonly signal = (): void => {
    this.#signalled = true
    this.#resume?.()
  }

  async wait(maxMs: number): Promise<void> {
    if (!this.#signalled) {
      let timer: Timer | undefined
      await new Promise<void>(resolve => {
        this.#resume = resolve
        timer = this.#clock.after(maxMs, resolve)
      })
      timer?.cancel()
      this.#resume = undefined
    }
    this.#signalled = false
  }
}
