import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

/** What the demo runs, and how. */
export interface ApplicationLaunch {
  /** Compiled entry of the command line. */
  readonly entry: string
  readonly yaml: string
  /** Values set over the file's. */
  readonly overrides: Readonly<Record<string, string>>
}

/** How a process ended. */
export interface ProcessEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

const LINES_KEPT = 40

/** `millrace run` in a process of its own, to be killed. */
export class ApplicationProcess {
  readonly ended: Promise<ProcessEnd>
  readonly #child: ChildProcess
  readonly #lines: string[] = []
  #end: ProcessEnd | undefined

  constructor({ entry, yaml, overrides }: ApplicationLaunch) {
    const sets = Object.entries(overrides).flatMap(([path, value]) => ['--set', `${path}=${value}`])
    this.#child = spawn(process.execPath, [entry, 'run', yaml, ...sets], { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', line => {
        this.#lines.push(line)
        if (this.#lines.length > LINES_KEPT) this.#lines.shift()
      })
    }
    this.ended = new Promise(resolve => {
      this.#child.once('exit', (exitCode, signal) => {
        this.#end = { exitCode, signal }
        resolve(this.#end)
      })
    })
  }

  /** How it ended; `undefined` while it runs. */
  get end(): ProcessEnd | undefined {
    return this.#end
  }

  /** Its latest lines of output. */
  get tail(): string {
    return this.#lines.join('\n')
  }

  /** Ends it at once, as a lost machine would. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  /** Asks it to stop in good order. */
  async stop(graceMs: number): Promise<ProcessEnd> {
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => {
      this.#child.kill('SIGKILL')
    }, graceMs)
    const end = await this.ended
    clearTimeout(timer)
    return end
  }
}
