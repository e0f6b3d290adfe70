import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks'

/** How late the event loop of a thread was, in ms. */
export interface EventLoopDelaySnapshot {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** Often enough to see what holds up a heartbeat, seldom enough to cost nothing. */
const RESOLUTION_MS = 20
/** What is told is at most that old: a stall an hour ago is no news. */
const WINDOW_MS = 60_000
const NANOSECONDS = 1e6

/** Watches how late timers of the calling thread fire, over the last minute. */
export class EventLoopDelay {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #sinceMs: number

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
    this.#histogram.enable()
  }

  snapshot(nowMs: number): EventLoopDelaySnapshot {
    const histogram = this.#histogram
    const snapshot: EventLoopDelaySnapshot =
      histogram.count === 0
        ? { p50Ms: 0, p99Ms: 0, maxMs: 0 }
        : {
            p50Ms: lateMs(histogram.percentile(50)),
            p99Ms: lateMs(histogram.percentile(99)),
            maxMs: lateMs(histogram.max),
          }
    if (nowMs - this.#sinceMs >= WINDOW_MS) {
      histogram.reset()
      this.#sinceMs = nowMs
    }
    return snapshot
  }

  /** Stops watching. */
  close(): void {
    this.#histogram.disable()
  }
}

/** A sample is the whole distance between two timers; what is meant to lie between them is no delay. */
function lateMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS)
}
