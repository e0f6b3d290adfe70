import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The command line as compiled beside the tests. */
const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** Only a failure takes that long, on a loaded machine too. */
const WAIT_MS = 60_000

/** What is run, and with what. */
export interface MillraceProcessOptions {
  /** The YAML text of the application. */
  readonly yaml: string
  /** Further environment, such as `MILLRACE_TEST_CRASH_AT`. */
  readonly env?: Readonly<Record<string, string>>
  /** State directory to go on with; a new one otherwise. */
  readonly stateDir?: string
  /** Further arguments of `run`. */
  readonly args?: readonly string[]
  /** File of the command line. @default the one beside the tests */
  readonly cli?: string
}

/** How a process ended. */
export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A log line of the service as JSON. */
export interface LogLine {
  readonly level?: string
  readonly msg?: string
  readonly [field: string]: unknown
}

/** `millrace run` as a process of its own, to be killed, stopped and watched. */
export class MillraceProcess {
  readonly stateDir: string
  readonly lines: string[] = []
  readonly exited: Promise<ProcessExit>
  readonly #child: ChildProcess
  readonly #directory: string
  readonly #watchers = new Set<() => void>()
  #exit: ProcessExit | undefined

  private constructor(child: ChildProcess, directory: string, stateDir: string) {
    this.#child = child
    this.#directory = directory
    this.stateDir = stateDir
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) {
        createInterface({ input: stream }).on('line', line => {
          this.lines.push(line)
          this.#tell()
        })
      }
    }
    this.exited = new Promise(resolve => {
      // Behind its end the pipes may still hold the last lines; they are there when it is closed.
      child.once('close', (code, signal) => {
        this.#exit = { code, signal }
        resolve(this.#exit)
        this.#tell()
      })
    })
  }

  static async start({
    yaml,
    env = {},
    stateDir,
    args = [],
    cli = CLI,
  }: MillraceProcessOptions): Promise<MillraceProcess> {
    const directory = await mkdtemp(join(tmpdir(), 'millrace-app-'))
    const file = join(directory, 'app.yaml')
    await writeFile(file, yaml)
    const state = stateDir ?? join(directory, 'state')
    const child = spawnNode([cli, 'run', file, '--set', `streams.state.dir=${state}`, ...args], env)
    return new MillraceProcess(child, directory, state)
  }

  /** Starts a program of our own that uses the library, compiled beside the tests; `STATE_DIR` is in its environment. */
  static async startProgram(program: URL, env: Readonly<Record<string, string>>): Promise<MillraceProcess> {
    const directory = await mkdtemp(join(tmpdir(), 'millrace-program-'))
    const state = join(directory, 'state')
    return new MillraceProcess(spawnNode([fileURLToPath(program)], { ...env, STATE_DIR: state }), directory, state)
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the process did not start')
    return this.#child.pid
  }

  get hasExited(): boolean {
    return this.#exit !== undefined
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<ProcessExit> {
    this.#child.kill('SIGKILL')
    return await this.exited
  }

  /** Stops it as an orchestrator would. */
  async terminate(timeoutMs = WAIT_MS): Promise<ProcessExit> {
    this.#child.kill('SIGTERM')
    return await this.untilExit(timeoutMs)
  }

  /** The first line, present or to come, that the text or pattern fits. */
  async untilLine(pattern: string | RegExp, timeoutMs = WAIT_MS): Promise<string> {
    const fits = (line: string): boolean => (typeof pattern === 'string' ? line.includes(pattern) : pattern.test(line))
    return await this.#until(() => this.lines.find(fits), `a line with ${String(pattern)}`, timeoutMs)
  }

  async untilRunning(timeoutMs = WAIT_MS): Promise<void> {
    await this.untilLine(/"state":"running"|state.*running/, timeoutMs)
  }

  async untilExit(timeoutMs = WAIT_MS): Promise<ProcessExit> {
    return await this.#until(() => this.#exit, 'the end of the process', timeoutMs)
  }

  /** Lines that are JSON, as the service logs them. */
  get log(): readonly LogLine[] {
    return this.lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line) as LogLine)
  }

  /** Ends the process if it still runs and removes its files; its state directory too, unless it was given. */
  async dispose(): Promise<void> {
    if (this.#exit === undefined) await this.kill()
    await rm(this.#directory, { recursive: true, force: true })
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher()
  }

  async #until<T>(look: () => T | undefined, what: string, timeoutMs: number): Promise<T> {
    return await new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(timer)
        this.#watchers.delete(watch)
      }
      const timer = setTimeout(() => {
        finish()
        reject(
          new Error(`waited ${String(timeoutMs)} ms for ${what}; last lines:\n${this.lines.slice(-25).join('\n')}`),
        )
      }, timeoutMs)
      const watch = (): void => {
        const seen = look()
        if (seen === undefined) return
        finish()
        resolve(seen)
      }
      this.#watchers.add(watch)
      watch()
    })
  }
}

function spawnNode(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, ['--enable-source-maps', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
