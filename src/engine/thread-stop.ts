import type { Cluster } from '../kafka/cluster/cluster.ts'
import type { Clock, Timer } from '../model/clock.ts'
import type { Logger } from '../model/logger.ts'
import type { StopOptions } from './thread-shutdown.ts'

/** Of the time of a stop, what the turn of the loop may take that is under way when it is asked for. */
const TURN_SHARE = 1 / 2

/** Settings of `ThreadStop`. */
export interface ThreadStopOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly cluster: Pick<Cluster, 'close'>
  /** Longest wait of a step while no stop is asked for. */
  readonly stepTimeoutMs: number
}

/** The stop of one thread: whether it was asked for, and how long what waits for brokers may take from then on. */
export class ThreadStop {
  readonly #options: ThreadStopOptions
  #asked: StopOptions | undefined
  #endsAtMs = Number.POSITIVE_INFINITY
  #stepsEndAtMs = Number.POSITIVE_INFINITY
  #turnTimer: Timer | undefined
  #isCutOff = false

  constructor(options: ThreadStopOptions) {
    this.#options = options
  }

  /** How it was asked for; `undefined` before. */
  get asked(): StopOptions | undefined {
    return this.#asked
  }

  get requested(): boolean {
    return this.#asked !== undefined
  }

  /** Whether the connections were closed for it. */
  get isCutOff(): boolean {
    return this.#isCutOff
  }

  /** What is left until its end; infinite before it is asked for. */
  get leftMs(): number {
    return this.#endsAtMs - this.#options.clock.nowMs()
  }

  /** How long the next step may wait for brokers. */
  readonly stepTimeoutMs = (): number =>
    Math.max(1, Math.min(this.#options.stepTimeoutMs, this.#stepsEndAtMs - this.#options.clock.nowMs()))

  /**
   * Asks for it; only the first time counts. A turn that is under way then gets half of the time: one that waits longer
   * is cut off, or nothing would be left to end in order.
   */
  ask(options: StopOptions): void {
    if (this.#asked !== undefined) return
    const { clock, logger } = this.#options
    const turnMs = options.timeoutMs * TURN_SHARE
    this.#asked = options
    this.#endsAtMs = clock.nowMs() + options.timeoutMs
    this.allow(turnMs)
    this.#turnTimer = clock.after(turnMs, () => {
      logger.warn(
        { turnMs },
        'brokers still owe an answer, and half of the time for the stop is over: it goes on without',
      )
      this.cutOff()
    })
  }

  /** The steps from here on have that long together. */
  readonly allow = (stepsMs: number): void => {
    this.#stepsEndAtMs = this.#options.clock.nowMs() + stepsMs
  }

  /** The last turn has ended. */
  loopEnded(): void {
    this.#turnTimer?.cancel()
  }

  /** Closes the connections: what waits for a broker ends at once, and nothing can be committed any more. */
  cutOff(): void {
    this.#isCutOff = true
    void this.#options.cluster.close()
  }
}
