import { spawn, type ChildProcess } from 'node:child_process'
import { open, readFile, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { KafkaDistribution } from './jars.ts'
import type { JvmProfile } from './options.ts'
import { unavailable } from './unavailable.ts'
import type { Watchdog } from './watchdog.ts'

const JVM_FLAGS: Readonly<Record<JvmProfile, readonly string[]>> = {
  // Compiles quickly and collects on one thread: a broker for tests on a small machine.
  fast: ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
  throughput: ['-Xms1g', '-Xmx1g', '-XX:+UseG1GC'],
}

const READY_LINE = 'Kafka Server started'
const POLL_MS = 25

/** What starts one broker. */
export interface BrokerLaunch {
  readonly distribution: KafkaDistribution
  readonly jvm: JvmProfile
  /** Flags of the class archive. */
  readonly archiveFlags: readonly string[]
  readonly propertiesFile: string
  readonly logFile: string
}

/** One running broker. */
export class BrokerProcess {
  readonly pid: number
  readonly logFile: string
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  #running = true

  private constructor(child: ChildProcess, pid: number, logFile: string, watchdog: Watchdog) {
    this.#child = child
    this.pid = pid
    this.logFile = logFile
    this.ended = new Promise(resolve => {
      child.once('exit', () => {
        this.#running = false
        watchdog.forget(pid)
        resolve()
      })
    })
  }

  /** Starts the JVM; `ready` tells when it serves. */
  static async start(launch: BrokerLaunch, watchdog: Watchdog): Promise<BrokerProcess> {
    const { distribution, jvm, archiveFlags, propertiesFile, logFile } = launch
    const log = await open(logFile, 'a')
    try {
      const child = spawn(
        distribution.java.command,
        [
          ...JVM_FLAGS[jvm],
          ...archiveFlags,
          '-Djava.awt.headless=true',
          '-XX:+ExitOnOutOfMemoryError',
          '-Dorg.slf4j.simpleLogger.showDateTime=true',
          '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
          '-cp',
          distribution.jars.join(':'),
          'kafka.Kafka',
          propertiesFile,
        ],
        // A group of its own: Ctrl-C at a terminal reaches the application, which then stops its broker in order.
        { stdio: ['ignore', log.fd, log.fd], detached: true },
      )
      const failed = new Promise<never>((_, reject) => {
        child.once('error', error => {
          reject(unavailable(`Java could not be started: ${error.message}`, error))
        })
      })
      if (child.pid === undefined) return await failed
      failed.catch(() => undefined)
      watchdog.watch(child.pid)
      child.unref()
      return new BrokerProcess(child, child.pid, logFile, watchdog)
    } finally {
      await log.close()
    }
  }

  get running(): boolean {
    return this.#running
  }

  /**
   * Waits until the broker says that it serves.
   *
   * @param fromByte - length of the log before this start
   * @throws LOCAL_KAFKA_UNAVAILABLE with the end of its log when it ends first or takes longer
   */
  async ready(timeoutMs: number, fromByte: number): Promise<void> {
    const deadline = Date.now() + timeoutMs
    let seenBytes = -1
    for (;;) {
      const { size } = await stat(this.logFile)
      if (size !== seenBytes) {
        seenBytes = size
        if ((await readFile(this.logFile)).subarray(fromByte).includes(READY_LINE)) return
      }
      if (!this.#running) throw unavailable(`The broker ended while it started:\n${await this.logTail()}`)
      if (Date.now() > deadline) {
        throw unavailable(`The broker did not start within ${String(timeoutMs)} ms:\n${await this.logTail()}`)
      }
      await delay(POLL_MS)
    }
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#running) this.#child.kill(signal)
  }

  /** Ends the broker: in good order within `graceMs`, else by force. @returns whether it ended in good order */
  async end(graceMs: number): Promise<boolean> {
    if (!this.#running) return false
    this.#child.ref()
    if (graceMs === 0) {
      this.signal('SIGKILL')
      await this.ended
      return false
    }
    let inOrder = true
    // A stopped process does not see SIGTERM before it is continued.
    this.signal('SIGCONT')
    this.signal('SIGTERM')
    const timer = setTimeout(() => {
      inOrder = false
      this.signal('SIGKILL')
    }, graceMs)
    await this.ended
    clearTimeout(timer)
    return inOrder
  }

  /** The last lines of its log that tell of errors, or just the last lines. */
  async logTail(): Promise<string> {
    const lines = (await readFile(this.logFile, 'utf8').catch(() => '')).trimEnd().split('\n')
    const errors = lines.filter(line => /\b(ERROR|FATAL)\b|Exception/.test(line))
    return (errors.length > 0 ? errors : lines).slice(-15).join('\n')
  }
}
