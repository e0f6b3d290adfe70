import { setImmediate as immediate } from 'node:timers/promises'
import type { Clock, Timer } from '../model/clock.ts'

/** The machine's own clocks. The only file of the engine that may touch them. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallClockMs: () => Date.now(),
  after(delayMs: number, callback: () => void): Timer {
    const handle = setTimeout(callback, Math.max(0, Math.min(delayMs, TIMER_MAX_MS)))
    return { cancel: () => clearTimeout(handle) }
  },
  yieldToIo: () => immediate(),
}

/** Node fires timers beyond 2^31 − 1 ms at once. */
const TIMER_MAX_MS = 2_147_483_647
