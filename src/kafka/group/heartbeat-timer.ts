import type { Clock, Timer } from '../../model/clock.ts'

/** When heartbeats are due. */
export interface HeartbeatPace {
  readonly clock: Pick<Clock, 'after'>
  /** Between two heartbeats. */
  readonly intervalMs: number
  /** From `soon` to the next heartbeat, which the others follow after twice the time each, up to the interval. */
  readonly firstMs: number
  readonly beat: () => void
}

/** Says when a heartbeat is due. */
export class HeartbeatTimer {
  readonly #pace: HeartbeatPace
  #timer: Timer | undefined
  #delayMs: number

  constructor(pace: HeartbeatPace) {
    this.#pace = pace
    this.#delayMs = pace.intervalMs
  }

  /** Begins, if it has not begun. */
  start(): void {
    if (this.#timer === undefined) this.#arm()
  }

  /**
   * After an assignment. Rounds seldom come alone: threads of a process and instances of a deployment join one after the
   * other, and what a member gives up is handed out in the next round. A round that others wait for should not wait for
   * `heartbeat.interval.ms` as well.
   */
  soon(): void {
    this.stop()
    this.#delayMs = Math.min(this.#pace.firstMs, this.#pace.intervalMs)
    this.#arm()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): void {
    const { clock, intervalMs, beat } = this.#pace
    this.#timer = clock.after(this.#delayMs, () => {
      this.#delayMs = Math.min(2 * this.#delayMs, intervalMs)
      this.#arm()
      beat()
    })
  }
}
