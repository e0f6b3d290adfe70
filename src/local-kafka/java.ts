import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { runCommand } from './command.ts'
import { unavailable } from './unavailable.ts'

/** A Java that runs Kafka. */
export interface Java {
  /** Command that starts it. */
  readonly command: string
  /** Feature version, such as 17. */
  readonly version: number
  /** Differs between any two builds; archives of classes are made per build. */
  readonly build: string
}

/** Oldest Java that Kafka's brokers run on. */
const JAVA_VERSION_MIN = 17

/** The Java of `JAVA_HOME`, or of the path; `undefined` when there is none. */
export async function findJava(env: NodeJS.ProcessEnv = process.env): Promise<Java | undefined> {
  const home = env['JAVA_HOME']
  const candidates = home === undefined || home === '' ? ['java'] : [join(home, 'bin', 'java'), 'java']
  for (const command of candidates) {
    const { exitCode, output } = await runCommand(command, ['-version'], { timeoutMs: 20_000 })
    const version = Number(/version "(\d+)/.exec(output)?.[1])
    if (exitCode !== 0 || Number.isNaN(version)) continue
    if (version < JAVA_VERSION_MIN) {
      throw unavailable(`Kafka needs Java ${String(JAVA_VERSION_MIN)} or later; ${command} is Java ${String(version)}.`)
    }
    return { command, version, build: createHash('sha256').update(output).digest('hex').slice(0, 12) }
  }
  return undefined
}
