import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { unreachable } from '../model/assert.ts'
import { STOP_GRACE_MS, stopTimedOut } from './stop-deadline.ts'
import { readEnded, withReadDeadline } from './read-deadline.ts'
import type { SpareWorker } from './spare-worker.ts'
import type { StateAnswer, StateQuestion } from './state-question.ts'
import type { TaskInfo } from './task-info.ts'
import type { StopOptions } from './thread-shutdown.ts'
import type { ThreadHandle, ThreadReports } from './thread-handle.ts'
import { receivedError } from './posted-error.ts'
import type { ThreadCommand, ThreadMessage, ThreadStart } from './thread-messages.ts'
import type { ThreadSnapshot } from './thread-metrics.ts'
import type { ThreadState } from './thread-state.ts'

/** A thread that does not answer for that long counts as blocked; metrics then go without it. */
const SNAPSHOT_MS_MAX = 1_000

/** A stream thread in a worker of its own. */
export class WorkerThread implements ThreadHandle {
  readonly name: string
  readonly #worker: Worker
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #reports: ThreadReports
  readonly #turnedAt = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)
  readonly #snapshots = new Map<number, (snapshot: ThreadSnapshot | undefined) => void>()
  readonly #reads = new Map<number, (answer: StateAnswer) => void>()
  #tasks: readonly TaskInfo[] = []
  #state: ThreadState = 'created'
  #requests = 0
  #ended = false
  #stopDeadline: Timer | undefined
  #givenUp: MillraceError | undefined

  constructor(
    worker: SpareWorker,
    start: Omit<ThreadStart, 'turnedAt'>,
    { clock, logger, reports }: { readonly clock: Clock; readonly logger: Logger; readonly reports: ThreadReports },
  ) {
    this.name = start.name
    this.#clock = clock
    this.#logger = logger
    this.#reports = reports
    this.#worker = worker.start({ ...start, turnedAt: this.#turnedAt })
    this.#worker.on('message', (message: ThreadMessage) => this.#receive(message))
    this.#worker.on('error', error =>
      this.#end(new MillraceError('INTERNAL', { cause: error, what: `Thread ${this.name} broke: ${error.message}` })),
    )
    this.#worker.on('exit', code =>
      this.#end(
        this.#givenUp ??
          new MillraceError('INTERNAL', { what: `Thread ${this.name} exited with ${String(code)} before it ended.` }),
      ),
    )
  }

  get state(): ThreadState {
    return this.#state
  }

  stop(options: StopOptions): void {
    if (!this.#ended) {
      this.#stopDeadline ??= this.#clock.after(options.timeoutMs + STOP_GRACE_MS, () => this.#giveUp(options.timeoutMs))
    }
    this.#send({ type: 'stop', options })
  }

  pause(paused: boolean): void {
    this.#send({ type: 'pause', paused })
  }

  askForShutdown(): void {
    this.#send({ type: 'askForShutdown' })
  }

  snapshot(): Promise<ThreadSnapshot | undefined> {
    if (this.#ended) return Promise.resolve(undefined)
    this.#requests += 1
    const request = this.#requests
    return new Promise(resolve => {
      const timer = this.#clock.after(SNAPSHOT_MS_MAX, () => answer(undefined))
      const answer = (snapshot: ThreadSnapshot | undefined): void => {
        timer.cancel()
        this.#snapshots.delete(request)
        resolve(snapshot)
      }
      this.#snapshots.set(request, answer)
      this.#send({ type: 'snapshot', request })
    })
  }

  tasks(): readonly TaskInfo[] {
    return this.#tasks
  }

  async read(question: StateQuestion): Promise<StateAnswer> {
    this.#requests += 1
    const request = this.#requests
    try {
      return await withReadDeadline(this.#clock, this.name, answer => {
        this.#reads.set(request, answer)
        if (this.#ended) answer(readEnded(this.name))
        else this.#send({ type: 'read', request, question })
      })
    } finally {
      this.#reads.delete(request)
    }
  }

  turnAgeMs(): number {
    const turnedAtMs = new Float64Array(this.#turnedAt)[0] ?? 0
    return turnedAtMs === 0 ? 0 : Math.max(0, this.#clock.wallClockMs() - turnedAtMs)
  }

  #send(command: ThreadCommand): void {
    if (!this.#ended) this.#worker.postMessage(command)
  }

  #receive(message: ThreadMessage): void {
    switch (message.type) {
      case 'state':
        this.#state = message.state
        return this.#reports.onState(message.state, message.previous)
      case 'commit':
        return this.#reports.onCommit(message.records)
      case 'restore':
        return this.#reports.onRestore(message.progress)
      case 'snapshot':
        return this.#snapshots.get(message.request)?.(message.snapshot)
      case 'tasks':
        this.#tasks = message.tasks
        return undefined
      case 'read':
        return this.#reads.get(message.request)?.(message.answer)
      case 'log':
        return this.#logger[message.level](message.fields, message.message)
      case 'ended':
        return this.#end(undefined)
      case 'failed':
        return this.#end(receivedError(message.error))
      default:
        return unreachable(message)
    }
  }

  /** A step that blocks, or a call that waits for a broker: the process has to end all the same. */
  #giveUp(timeoutMs: number): void {
    this.#givenUp = stopTimedOut(this.name, timeoutMs)
    void this.#worker.terminate()
  }

  #end(error: MillraceError | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#stopDeadline?.cancel()
    this.#state = error === undefined ? 'stopped' : 'failed'
    this.#tasks = []
    for (const answer of this.#snapshots.values()) answer(undefined)
    for (const answer of this.#reads.values()) answer(readEnded(this.name))
    this.#reports.onEnd(error)
  }
}
