/** Ends a timer; safe to call twice, and after it fired. */
export interface Timer {
  cancel(): void
}

/**
 * Time as the engine sees it. Everything that waits or measures takes one through its constructor, so that a whole
 * engine can run under a simulated clock.
 */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary start: for deadlines, intervals and ages. */
  nowMs(): number
  /** Wall-clock milliseconds since 1970: for wall-clock punctuation, logs and the records' own timestamps only. */
  wallClockMs(): number
  /** Calls back once after `delayMs`. */
  after(delayMs: number, callback: () => void): Timer
  /** Lets sockets and timers have their turn, then goes on. */
  yieldToIo(): Promise<void>
}

/** Resolves after `delayMs` of the given clock. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise(resolve => {
    clock.after(delayMs, resolve)
  })
}

/** A source of chance in [0, 1), such as `Math.random`; seeded in tests. */
export type Random = () => number
