import type { Clock, Timer } from '../../model/clock.ts'

/**
 * When an authenticated session has to be renewed (KIP-368). The broker closes the connection at the first request
 * after the session ended, so the renewal starts at this share of its lifetime.
 */
const RENEW_AT_SHARE = 0.8

/** The lifetime of an authenticated session, as the broker granted it. */
export class SessionLifetime {
  readonly #clock: Clock
  #endsAtMs = Number.POSITIVE_INFINITY
  #renewal: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Begins a session.
   *
   * @param lifetimeMs - as granted; 0 = without end
   * @param sinceMs - when the authentication began: the broker's clock started no earlier
   * @param renew - called once, when it is time
   */
  begin(lifetimeMs: number, sinceMs: number, renew: () => void): void {
    this.end()
    if (lifetimeMs <= 0) return
    this.#endsAtMs = sinceMs + lifetimeMs
    const renewAtMs = sinceMs + lifetimeMs * RENEW_AT_SHARE
    this.#renewal = this.#clock.after(Math.max(0, renewAtMs - this.#clock.nowMs()), renew)
  }

  /** Whether the broker would close the connection at the next request. */
  get over(): boolean {
    return this.#clock.nowMs() >= this.#endsAtMs
  }

  /** Forgets the session. */
  end(): void {
    this.#renewal?.cancel()
    this.#renewal = undefined
    this.#endsAtMs = Number.POSITIVE_INFINITY
  }
}
