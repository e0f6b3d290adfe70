import { fork, type ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TestOrder } from './run-tests-files.ts'
import type { LaneEvent, LaneOrder, TestOptions } from './run-tests-events.ts'

/** Stopping several brokers in order, one of which may leave a class archive behind. */
const END_TIMEOUT_MS = 120_000

/** What a lane did with its files. */
export interface LaneOutcome {
  readonly events: readonly LaneEvent[]
  /** How the process ended, where it ended before its files did. */
  readonly died: string | undefined
}

/** A process that runs test files, seen from the one that started it. */
export class Lane {
  readonly #child: ChildProcess
  readonly #exited: Promise<string>
  #events: LaneEvent[] = []
  #onDone: (() => void) | undefined

  constructor() {
    this.#child = fork(fileURLToPath(new URL('run-tests-lane.js', import.meta.url)), {
      execArgv: ['--enable-source-maps'],
      // A group of its own: what tests started ends with the lane, however that ends.
      detached: true,
      serialization: 'advanced',
    })
    this.#child.on('message', (event: LaneEvent) => {
      if (event.type === 'done') this.#onDone?.()
      else this.#events.push(event)
    })
    this.#exited = new Promise(resolve => {
      this.#child.once('error', error => {
        resolve(`it could not be run: ${error.message}`)
      })
      this.#child.once('exit', (code, signal) => {
        this.kill()
        resolve(`its process ended with ${signal ?? `exit code ${String(code)}`}`)
      })
    })
  }

  /** Runs files to their end, or to the end of the process. */
  async run(order: TestOrder, options: TestOptions): Promise<LaneOutcome> {
    this.#events = []
    const done = new Promise<undefined>(resolve => {
      this.#onDone = () => {
        resolve(undefined)
      }
    })
    this.#tell({ type: 'run', order, options })
    const died = await Promise.race([done, this.#exited])
    return { events: this.#events, died }
  }

  /** Lets the process end by itself. @returns why it did not end well */
  async end(): Promise<string | undefined> {
    this.#tell({ type: 'end' })
    const cancelled = new AbortController()
    const late = delay(END_TIMEOUT_MS, undefined, { signal: cancelled.signal })
    const how = await Promise.race([this.#exited, late.catch(() => undefined)])
    cancelled.abort()
    if (how !== undefined) return this.#child.exitCode === 0 ? undefined : how
    this.kill()
    return `its process did not end within ${String(END_TIMEOUT_MS)} ms; something keeps it alive`
  }

  kill(): void {
    if (this.#child.pid === undefined) return
    try {
      process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // Nothing of it is left.
    }
  }

  #tell(order: LaneOrder): void {
    if (this.#child.connected) this.#child.send(order)
  }
}
