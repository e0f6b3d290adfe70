import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { runCommand } from '../../src/local-kafka/command.ts'
import { provideDistribution } from '../../src/local-kafka/jars.ts'

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

/**
 * The real Java client in a process of its own, driven line by line: an opinion that owes nothing to our code.
 * Commands run one after the other.
 */
export class JavaClient {
  readonly #tool: Tool
  readonly #folder: string
  readonly #waiting: Waiting[] = []
  #stderr = ''
  #ended = false

  private constructor(tool: Tool, folder: string) {
    this.#tool = tool
    this.#folder = folder
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
  static async available(): Promise<boolean> {
    const { java } = await provideDistribution('4.4.0', () => undefined)
    const { exitCode, output } = await runCommand(java.command, ['--list-modules'], { timeoutMs: 20_000 })
    return exitCode === 0 && output.includes('jdk.compiler')
  }

  /** @param properties - of the Java client, such as `security.protocol` */
  static async start(bootstrapServers: string, properties: Readonly<Record<string, string>> = {}): Promise<JavaClient> {
    const { java, jars } = await provideDistribution('4.4.0', () => undefined)
    const folder = await mkdtemp(join(tmpdir(), 'millrace-java-client-'))
    const propertiesFile = join(folder, 'client.properties')
    await writeFile(
      propertiesFile,
      Object.entries(properties)
        .map(pair => pair.join('='))
        .join('\n'),
    )
    const flags = ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto']
    const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
    const args = [...flags, logging, '-cp', jars.join(delimiter), SOURCE, bootstrapServers, propertiesFile]
    return new JavaClient(spawn(java.command, args, { stdio: ['pipe', 'pipe', 'pipe'] }), folder)
  }

  /** Sends a command of words, and lines that belong to it; resolves with the lines that came back. */
  command(words: readonly string[], lines: readonly string[] = []): Promise<string[]> {
    if (this.#ended) return Promise.reject(this.#endedError())
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        reject(new Error(`the Java client did not finish "${words.join(' ')}" in time`))
      }, COMMAND_TIMEOUT_MS)
      this.#waiting.push({
        lines: [],
        resolve: result => {
          clearTimeout(timeout)
          resolve(result)
        },
        reject: error => {
          clearTimeout(timeout)
          reject(new Error(`the Java client failed at "${words.join(' ')}": ${error.message}`, { cause: error }))
        },
      })
      this.#tool.stdin.write([words.join('\t'), ...lines, ''].join('\n'))
    })
  }

  /** Ends the process at once, as a crash would: an open transaction stays open. */
  async stop(): Promise<void> {
    if (!this.#ended) {
      const closed = once(this.#tool, 'close')
      this.#tool.kill('SIGKILL')
      await closed
    }
    await rm(this.#folder, { recursive: true, force: true })
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

const shared = new Map<string, Promise<JavaClient>>()

/** One Java client per cluster and test process; it ends with the tests. */
export function sharedJavaClient(
  bootstrapServers: string,
  properties: Readonly<Record<string, string>> = {},
): Promise<JavaClient> {
  const key = JSON.stringify([bootstrapServers, properties])
  let client = shared.get(key)
  if (client === undefined) {
    client = JavaClient.start(bootstrapServers, properties)
    shared.set(key, client)
  }
  return client
}

/** Ends the shared Java clients. */
export async function stopSharedJavaClients(): Promise<void> {
  const clients = await Promise.allSettled(shared.values())
  shared.clear()
  await Promise.all(clients.map(client => (client.status === 'fulfilled' ? client.value.stop() : Promise.resolve())))
}

// Registered while the first file that imports this one is loaded: a hook of the root suite.
if (typeof after === 'function') after('stops the shared Java clients', stopSharedJavaClients)
