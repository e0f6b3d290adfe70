import { MillraceProcess, type ProcessExit } from '../../support/millrace-process.ts'

/** What a life of an instance may end with, besides the faults that were meant for it. */
export interface UnexpectedExit {
  readonly instance: string
  readonly exit: ProcessExit
  readonly lines: readonly string[]
}

/** Kafka was not there for longer than `startup.timeout.ms`: an orchestrator starts the process again, and so do we. */
const UNAVAILABLE = 69
const STOP_TIMEOUT_MS = 60_000

/** One instance of the application: one state directory, many lives, each its own process. */
export class MillInstance {
  readonly name: string
  readonly stateDir: string
  readonly #yaml: string
  readonly #onUnexpectedExit: (unexpected: UnexpectedExit) => void
  readonly #lives: MillraceProcess[] = []
  #meantToEnd = false
  #tail: Promise<unknown> = Promise.resolve()

  constructor(parts: {
    readonly name: string
    readonly stateDir: string
    readonly yaml: string
    readonly onUnexpectedExit: (unexpected: UnexpectedExit) => void
  }) {
    this.name = parts.name
    this.stateDir = parts.stateDir
    this.#yaml = parts.yaml
    this.#onUnexpectedExit = parts.onUnexpectedExit
  }

  /** The process of the present life, if it lives. */
  get process(): MillraceProcess | undefined {
    const last = this.#lives.at(-1)
    return last?.hasExited === true ? undefined : last
  }

  /** Every life so far, in order. */
  get lives(): readonly MillraceProcess[] {
    return this.#lives
  }

  /** Does one thing after another to the instance: a restart and a kill must not cross. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work)
    this.#tail = done.catch(() => undefined)
    return done
  }

  /** Begins a life if none is going on. */
  async live(env: Readonly<Record<string, string>> = {}): Promise<MillraceProcess> {
    const running = this.process
    if (running !== undefined) return running
    this.#meantToEnd = 'MILLRACE_TEST_CRASH_AT' in env
    const process = await MillraceProcess.start({ yaml: this.#yaml, stateDir: this.stateDir, env })
    this.#lives.push(process)
    void process.exited.then(exit => {
      // SIGTERM ends a process that is still loading as any process; later it exits with 0.
      if (this.#meantToEnd && (exit.signal !== null || exit.code === 0)) return undefined
      if (exit.code !== UNAVAILABLE) {
        this.#onUnexpectedExit({ instance: this.name, exit, lines: process.lines.slice(-25) })
      }
      return undefined
    })
    return process
  }

  /** Ends the present life. @returns whether there was one */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<boolean> {
    const { process } = this
    if (process === undefined) return false
    this.#meantToEnd = true
    process.signal(signal)
    // A stopped process gets no other signal than SIGKILL.
    if (signal === 'SIGTERM') process.signal('SIGCONT')
    await process.untilExit(STOP_TIMEOUT_MS)
    return true
  }

  /** Ends everything and forgets the processes' files. */
  async dispose(): Promise<void> {
    this.#meantToEnd = true
    await Promise.all(this.#lives.map(process => process.dispose()))
  }
}
