import { arch, cpus, release, totalmem, type } from 'node:os'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { runCommand } from '../src/local-kafka/command.ts'
import { findJava } from '../src/local-kafka/java.ts'
import { TICKS_PER_SECOND } from './process-usage.ts'

/** What figures depend on, beside the code. */
export interface Machine {
  readonly processor: string
  readonly processors: number
  readonly memoryGigabytes: number
  readonly system: string
  readonly node: string
  readonly java: string
  readonly kafka: string
}

/** The version of the local Kafka, and of Kafka Streams beside it. */
const KAFKA = '4.4.0'

/** This machine. */
export async function thisMachine(): Promise<Machine> {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${arch()}`,
    node: process.version,
    java: String((await findJava())?.version ?? 'none'),
    kafka: KAFKA,
  }
}

/** Long enough that what works now and then is met. */
const WATCH_MS = 2_000
/** Of the first line of `/proc/stat`: user, nice, system, irq, softirq and steal; guests are part of user. */
const BUSY_FIELDS = [0, 1, 2, 5, 6, 7]

/**
 * How many processors other processes keep busy: what takes part in every figure. Ask before anything is started.
 *
 * @throws when there is no `/proc`
 */
export async function busyProcessors(): Promise<number> {
  const [startMs, own, all] = [performance.now(), process.cpuUsage(), busySecondsOf(readFileSync('/proc/stat', 'utf8'))]
  await pause(WATCH_MS)
  const seconds = (performance.now() - startMs) / 1_000
  const busySeconds = busySecondsOf(readFileSync('/proc/stat', 'utf8')) - all
  const { user, system } = process.cpuUsage(own)
  return Math.max(0, busySeconds - (user + system) / 1e6) / seconds
}

/** The time that all processors have worked so far, in s, of a `/proc/stat`. */
export function busySecondsOf(stat: string): number {
  const fields = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '').split(' ')
  return BUSY_FIELDS.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS_PER_SECOND
}

/** The commit that the sources are at; `unknown` outside a clone. */
export async function sourceCommit(): Promise<string> {
  const { exitCode, output } = await runCommand('git', ['rev-parse', '--short', 'HEAD'], { timeoutMs: 10_000 })
  return exitCode === 0 ? output : 'unknown'
}
