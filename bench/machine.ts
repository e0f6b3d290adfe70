import { arch, cpus, release, totalmem, type } from 'node:os'
import { runCommand } from '../src/local-kafka/command.ts'
import { findJava } from '../src/local-kafka/java.ts'

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

/** The commit that the sources are at; `unknown` outside a clone. */
export async function sourceCommit(): Promise<string> {
  const { exitCode, output } = await runCommand('git', ['rev-parse', '--short', 'HEAD'], { timeoutMs: 10_000 })
  return exitCode === 0 ? output : 'unknown'
}
