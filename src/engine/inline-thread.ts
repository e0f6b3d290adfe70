import type { Clock } from '../model/clock.ts'
import { asMillraceError, type MillraceError } from '../model/errors.ts'
import { EventLoopDelay } from './event-loop-delay.ts'
import type { ThreadHandle, ThreadReports } from './thread-handle.ts'
import { StreamThread } from './stream-thread.ts'
import type { StreamThreadOptions } from './thread-options.ts'
import type { StopOptions } from './thread-shutdown.ts'
import type { ThreadSnapshot } from './thread-metrics.ts'
import { snapshotOf } from './thread-snapshot.ts'
import type { ThreadState } from './thread-state.ts'

/** A stream thread on the caller's own thread, for a topology that is given as an object. */
export class InlineThread implements ThreadHandle {
  readonly name: string
  readonly #thread: StreamThread
  readonly #clock: Clock
  readonly #eventLoopDelay: EventLoopDelay

  constructor(options: Omit<StreamThreadOptions, 'listeners'>, reports: ThreadReports) {
    this.name = options.name
    this.#clock = options.clock
    this.#eventLoopDelay = new EventLoopDelay(options.clock.nowMs())
    this.#thread = new StreamThread({ ...options, listeners: reports })
    const end = (error: MillraceError | undefined): void => {
      this.#eventLoopDelay.close()
      reports.onEnd(error)
    }
    this.#thread.run().then(
      () => end(undefined),
      (error: unknown) => end(asMillraceError(error)),
    )
  }

  get state(): ThreadState {
    return this.#thread.state
  }

  stop(options: StopOptions): void {
    this.#thread.stop(options)
  }

  pause(paused: boolean): void {
    this.#thread.pause(paused)
  }

  snapshot(): Promise<ThreadSnapshot | undefined> {
    return Promise.resolve(snapshotOf(this.#thread, this.name, this.#clock.nowMs(), this.#eventLoopDelay))
  }

  turnAgeMs(): number {
    return this.#thread.metrics.turnAgeMs(this.#clock.nowMs())
  }
}
