import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Launch } from './contenders/contender.ts'
import { type ProcessUsage, usageOf } from './process-usage.ts'

/** Processes and folders that go when this process does, however that comes. */
const living = new Set<ChildProcess>()
const folders = new Set<string>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A contender at work. Its files and its log lie in a folder that goes with it. */
export class ContenderProcess {
  readonly #child: ChildProcess
  readonly #logFile: string
  readonly #pid: number

  private constructor(child: ChildProcess, pid: number, logFile: string) {
    this.#child = child
    this.#pid = pid
    this.#logFile = logFile
  }

  static async start({ command, args, env = {} }: Launch, folder: string): Promise<ContenderProcess> {
    const logFile = join(folder, 'output.log')
    const log = await open(logFile, 'a')
    try {
      const child = spawn(command, args, { stdio: ['ignore', log.fd, log.fd], env: { ...process.env, ...env } })
      living.add(child)
      child.once('exit', () => living.delete(child))
      await once(child, 'spawn')
      return new ContenderProcess(child, child.pid ?? -1, logFile)
    } finally {
      await log.close()
    }
  }

  /** What it has used so far. @throws with the end of its log when it has ended */
  async usage(): Promise<ProcessUsage> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) await this.#throwEnded()
    return usageOf(this.#pid)
  }

  /** The end of what it has written. */
  async logEnd(): Promise<string> {
    return (await readFile(this.#logFile, 'utf8')).slice(-LOG_CHARACTERS)
  }

  /** Ends it, by force if it does not end in good order. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    const deadline = setTimeout(() => this.#child.kill('SIGKILL'), STOP_GRACE_MS)
    this.#child.kill('SIGTERM')
    await ended
    clearTimeout(deadline)
  }

  async #throwEnded(): Promise<never> {
    const how = String(this.#child.exitCode ?? this.#child.signalCode)
    throw new Error(`the process ended by itself (${how}):\n${await this.logEnd()}`)
  }
}

const LOG_CHARACTERS = 3_000
const STOP_GRACE_MS = 15_000

/** Makes a folder that goes when this process does. */
export async function newFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `millrace-bench-${name}-`))
  folders.add(folder)
  return folder
}

/** Runs something with a folder of its own, which is removed afterwards. */
export async function withFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await newFolder('run')
  try {
    return await run(folder)
  } finally {
    folders.delete(folder)
    await rm(folder, { recursive: true, force: true })
  }
}
