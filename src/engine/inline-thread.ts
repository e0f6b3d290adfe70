import type { Clock, Timer } from '../model/clock.ts'
import { asMillraceError, type MillraceError } from '../model/errors.ts'
import { EventLoopDelay } from './event-loop-delay.ts'
import type { ThreadHandle, ThreadReports } from './thread-handle.ts'
import { StreamThread } from './stream-thread.ts'
import { STOP_GRACE_MS, stopTimedOut } from './stop-deadline.ts'
import type { StreamThreadOptions } from './thread-options.ts'
import { withReadDeadline } from './read-deadline.ts'
import type { StateAnswer, StateQuestion } from './state-question.ts'
import { taskInfosOf, type TaskInfo } from './task-info.ts'
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
  readonly #reports: ThreadReports
  #stopDeadline: Timer | undefined
  #ended = false

  constructor(options: Omit<StreamThreadOptions, 'listeners'>, reports: ThreadReports) {
    this.name = options.name
    this.#clock = options.clock
    this.#reports = reports
    this.#eventLoopDelay = new EventLoopDelay(options.clock.nowMs())
    this.#thread = new StreamThread({ ...options, listeners: reports })
    this.#thread.run().then(
      () => this.#end(undefined),
      (error: unknown) => this.#end(asMillraceError(error)),
    )
  }

  get state(): ThreadState {
    return this.#thread.state
  }

  stop(options: StopOptions): void {
    if (!this.#ended) {
      this.#stopDeadline ??= this.#clock.after(options.timeoutMs + STOP_GRACE_MS, () => this.#giveUp(options.timeoutMs))
    }
    this.#thread.stop(options)
  }

  pause(paused: boolean): void {
    this.#thread.pause(paused)
  }

  askForShutdown(): void {
    this.#thread.rebalancer.askForShutdown()
  }

  snapshot(): Promise<ThreadSnapshot | undefined> {
    return Promise.resolve(snapshotOf(this.#thread, this.name, this.#clock.nowMs(), this.#eventLoopDelay))
  }

  tasks(): readonly TaskInfo[] {
    return taskInfosOf(this.#thread, this.name)
  }

  read(question: StateQuestion): Promise<StateAnswer> {
    return withReadDeadline(this.#clock, this.name, answer => this.#thread.reads.ask(question, answer))
  }

  turnAgeMs(): number {
    return this.#thread.metrics.turnAgeMs(this.#clock.nowMs())
  }

  /**
   * What waits for a broker is given up; its connections are closed first, so that nothing can be committed any more. A
   * step that never returns cannot be: on the caller's own thread this timer never fires either.
   */
  #giveUp(timeoutMs: number): void {
    void this.#thread.clients.cluster.close()
    this.#end(stopTimedOut(this.name, timeoutMs))
  }

  #end(error: MillraceError | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#stopDeadline?.cancel()
    this.#eventLoopDelay.close()
    this.#reports.onEnd(error)
  }
}
