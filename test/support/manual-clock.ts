import type { Clock, Timer } from '../../src/model/clock.ts'

interface Due {
  readonly atMs: number
  readonly callback: () => void
}

/** Time that stands still until a test moves it. */
export class ManualClock implements Clock {
  #nowMs = 1_000
  #timers: Due[] = []

  nowMs(): number {
    return this.#nowMs
  }

  wallClockMs(): number {
    return 1_700_000_000_000 + Math.floor(this.#nowMs)
  }

  after(delayMs: number, callback: () => void): Timer {
    const due = { atMs: this.#nowMs + Math.max(0, delayMs), callback }
    this.#timers.push(due)
    return {
      cancel: () => {
        this.#timers = this.#timers.filter(timer => timer !== due)
      },
    }
  }

  yieldToIo(): Promise<void> {
    return settle()
  }

  /** How many timers wait. */
  get timers(): number {
    return this.#timers.length
  }

  /** Moves time on, firing each timer at its moment and letting promises settle after each. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await settle()
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      const fired = next
      this.#timers = this.#timers.filter(timer => timer !== fired)
      this.#nowMs = Math.max(this.#nowMs, fired.atMs)
      fired.callback()
      await settle()
    }
    this.#nowMs = untilMs
  }

  #next(untilMs: number): Due | undefined {
    return this.#timers.filter(timer => timer.atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs)[0]
  }
}

/** Lets everything that is ready to run do so. */
export async function settle(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
}
