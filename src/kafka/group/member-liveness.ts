import type { Clock } from '../../model/clock.ts'

/**
 * When a member was last seen alive: by the group (`session.timeout.ms`) and by its own loop (`max.poll.interval.ms`).
 *
 * Both are measured by comparing times, not by timers of their own: a blocked event loop delays timers as well, and the
 * comparison tells the truth on waking up.
 */
export class MemberLiveness {
  readonly #clock: Clock
  readonly #sessionTimeoutMs: number
  readonly #maxPollIntervalMs: number
  #heardAtMs: number
  #polledAtMs: number

  constructor(clock: Clock, sessionTimeoutMs: number, maxPollIntervalMs: number) {
    this.#clock = clock
    this.#sessionTimeoutMs = sessionTimeoutMs
    this.#maxPollIntervalMs = maxPollIntervalMs
    this.#heardAtMs = clock.nowMs()
    this.#polledAtMs = this.#heardAtMs
  }

  /**
   * The group accepted a request. Counted from when it was sent: the broker's own count begins after that, so it never
   * ends before ours.
   */
  heard(sentAtMs: number): void {
    this.#heardAtMs = Math.max(this.#heardAtMs, sentAtMs)
  }

  /** The loop came round. */
  polled(): void {
    this.#polledAtMs = this.#clock.nowMs()
  }

  get sessionExpired(): boolean {
    return this.#clock.nowMs() - this.#heardAtMs >= this.#sessionTimeoutMs
  }

  get pollExpired(): boolean {
    return this.#clock.nowMs() - this.#polledAtMs > this.#maxPollIntervalMs
  }
}
