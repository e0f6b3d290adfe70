import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { runCommand } from '../../src/local-kafka/command.ts'
import { provideDistribution } from '../../src/local-kafka/jars.ts'
import { atRunEnd } from './run-end.ts'

/** Reading a large topic on a loaded machine, in the worst case. */
const COMMAND_TIMEOUT_MS = 120_000
const SOURCE = 'test/support/java/KafkaTool.java'
const STDERR_CHARACTERS_MAX = 4_000

type Tool = ChildProcessByStdio<Writable, Readable, Readable>

interface Waiting {
  readonly lines: string[]
  readonly resolve: (lines: string[]) => void
  readonly reject: (error: Error) => void
}

/** Between the properties of a cluster's clients. */
const SEPARATOR = '\u001F'

/** The Java client on one cluster. */
export interface JavaClientOf {
  /** Sends a command of words, and lines that belong to it; resolves with the lines that came back. */
  command(words: readonly string[], lines?: readonly string[]): Promise<string[]>
}

/**
 * The real Java client in a process of its own, driven line by line: an opinion that owes nothing to our code.
 * One process serves any number of clusters; commands run one after the other.
 */
export class JavaClient {
  readonly #tool: Tool
  readonly #waiting: Waiting[] = []
  #stderr = ''
  #ended = false

  private constructor(tool: Tool) {
    this.#tool = tool
    createInterface({ input: tool.stdout }).on('line', line => this.#take(line))
    tool.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-STDERR_CHARACTERS_MAX)
    })
    // A tool that ended cannot be written to; its close says so.
    tool.stdin.on('error', () => undefined)
    tool.on('close', () => {
      this.#ended = true
      for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#endedError())
    })
  }

  /** Whether the Java here can run a source file: it needs the compiler that comes with a JDK. */
  static available(): Promise<boolean> {
    available ??= hasCompiler()
    return available
  }

  /** Starts the process; it compiles its one source file first. */
  static async start(): Promise<JavaClient> {
    const { java, jars } = await provideDistribution('4.4.0', () => undefined)
    const flags = ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto']
    const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
    const args = [...flags, logging, '-cp', jars.join(delimiter), SOURCE]
    return new JavaClient(spawn(java.command, args, { stdio: ['pipe', 'pipe', 'pipe'] }))
  }

  /** @param properties - of its clients, such as `security.protocol` */
  on(bootstrapServers: string, properties: Readonly<Record<string, string>> = {}): JavaClientOf {
    const all = { ...properties, 'bootstrap.servers': bootstrapServers }
    const cluster = Object.entries(all)
      .map(pair => pair.join('='))
      .join(SEPARATOR)
    return { command: (words, lines = []) => this.#command([cluster, ...words], lines) }
  }

  #command(words: readonly string[], lines: readonly string[]): Promise<string[]> {
    if (this.#ended) return Promise.reject(this.#endedError())
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        reject(new Error(`the Java client did not finish "${words.slice(1).join(' ')}" in time`))
      }, COMMAND_TIMEOUT_MS)
      this.#waiting.push({
        lines: [],
        resolve: result => {
          clearTimeout(timeout)
          resolve(result)
        },
        reject: error => {
          clearTimeout(timeout)
          reject(
            new Error(`the Java client failed at "${words.slice(1).join(' ')}": ${error.message}`, { cause: error }),
          )
        },
      })
      this.#tool.stdin.write([words.join('\t'), ...lines, ''].join('\n'))
    })
  }

  /** Ends the process at once, as a crash would: an open transaction stays open. */
  async stop(): Promise<void> {
    if (this.#ended) return
    const closed = once(this.#tool, 'close')
    this.#tool.kill('SIGKILL')
    await closed
  }

  #take(line: string): void {
    const waiting = this.#waiting[0]
    if (waiting === undefined) return
    if (line === '.') {
      this.#waiting.shift()
      waiting.resolve(waiting.lines)
    } else if (line.startsWith('! ')) {
      this.#waiting.shift()
      waiting.reject(new Error(line.slice(2)))
    } else {
      waiting.lines.push(line)
    }
  }

  #endedError(): Error {
    return new Error(`the Java client ended: ${this.#stderr.trim()}`)
  }
}

/** Asked once: it costs a virtual machine. */
let available: Promise<boolean> | undefined

async function hasCompiler(): Promise<boolean> {
  const { java } = await provideDistribution('4.4.0', () => undefined)
  const { exitCode, output } = await runCommand(java.command, ['--list-modules'], { timeoutMs: 60_000 })
  return exitCode === 0 && output.includes('jdk.compiler')
}

let shared: Promise<JavaClient> | undefined

/** The Java client on a cluster, in the one process that the tests of this process share; it ends with them. */
export async function sharedJavaClient(
  bootstrapServers: string,
  properties: Readonly<Record<string, string>> = {},
): Promise<JavaClientOf> {
  shared ??= JavaClient.start()
  return (await shared).on(bootstrapServers, properties)
}

/** Ends the shared Java client. */
async function stopSharedJavaClient(): Promise<void> {
  const client = shared
  shared = undefined
  await (await client)?.stop()
}

atRunEnd('stops the shared Java client', stopSharedJavaClient)
