import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually } from '../../support/condition.ts'
import { javaWithStreams } from '../../support/java-libraries.ts'

/** A JVM that compiles its source on a loaded machine. */
const PATIENCE_MS = 120_000

/** A program of test/support/java; each says its arguments. */
export interface JvmProgram {
  readonly source: `${string}.java`
  /** Its arguments, the state directory left out. */
  readonly words: (stateDir: string) => readonly string[]
}

/** What the counting application counts. */
export interface JvmCounterOptions {
  readonly servers: string
  readonly applicationId: string
  readonly input: string
  readonly output: string
  /** `value` counts per value through a repartition topic. */
  readonly per: 'key' | 'value'
}

/** Kafka Streams' own application that counts. */
export function jvmCounter({ servers, applicationId, input, output, per }: JvmCounterOptions): JvmProgram {
  return {
    source: 'StreamsCounter.java',
    words: stateDir => [servers, applicationId, input, output, stateDir, per],
  }
}

/** A running Kafka Streams application with the same topology as one of ours. */
export class JvmStreams {
  readonly lines: string[] = []
  readonly #child: ChildProcess
  readonly #stateDir: string
  #exitCode: number | null | undefined

  private constructor(child: ChildProcess, stateDir: string) {
    this.#child = child
    this.#stateDir = stateDir
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', line => this.lines.push(line))
    }
    // With its last lines: those may come behind its end.
    child.once('close', code => {
      this.#exitCode = code
    })
  }

  /** Starts it and waits until it runs: then it has restored its stores. */
  static async start({ source, words }: JvmProgram): Promise<JvmStreams> {
    const { java, classPath } = await javaWithStreams()
    const stateDir = await mkdtemp(join(tmpdir(), 'millrace-jvm-'))
    const flags = ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto']
    const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
    const program = `test/support/java/${source}`
    const child = spawn(java, [...flags, logging, '-cp', classPath, program, ...words(stateDir)], {
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const streams = new JvmStreams(child, stateDir)
    await streams.#until('runs', () => streams.lines.includes('state RUNNING'))
    return streams
  }

  /** Closes it as an operator would, leaving the group. */
  async close(): Promise<void> {
    this.#child.stdin?.end()
    await this.#until('closes', () => this.#exitCode !== undefined)
    if (this.#exitCode !== 0) throw new Error(`the Kafka Streams application failed:\n${this.lines.join('\n')}`)
    await this.dispose()
  }

  async dispose(): Promise<void> {
    if (this.#exitCode === undefined) {
      const exited = once(this.#child, 'close')
      this.#child.kill('SIGKILL')
      await exited
    }
    await rm(this.#stateDir, { recursive: true, force: true })
  }

  async #until(what: string, condition: () => boolean): Promise<void> {
    const ends = (): boolean => condition() || this.#exitCode !== undefined
    await eventually(`the Kafka Streams application ${what}`, ends, PATIENCE_MS).catch((cause: unknown) => {
      throw new Error(`the Kafka Streams application does not go on:\n${this.lines.join('\n')}`, { cause })
    })
    if (!condition()) throw new Error(`the Kafka Streams application ended:\n${this.lines.join('\n')}`)
  }
}
