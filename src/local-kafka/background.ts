import { spawn } from 'node:child_process'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { reasonOf } from '../model/errors.ts'
import { cacheFolder, isAlive } from './cache.ts'
import { provideKafka } from './kafka-provider.ts'
import type { LocalKafkaOptions } from './options.ts'
import { unavailable } from './unavailable.ts'

/** What is known about the Kafka that runs in the background. */
export interface BackgroundKafka {
  readonly state: 'starting' | 'running' | 'failed'
  /** Process that holds it. */
  readonly pid: number
  readonly bootstrapServers: string
  readonly source: string
  /** Latest line of progress, or why it failed. */
  readonly line: string
}

const STATE = z.object({
  state: z.enum(['starting', 'running', 'failed']),
  pid: z.number(),
  bootstrapServers: z.string(),
  source: z.string(),
  line: z.string(),
})

const START_TIMEOUT_MS = 900_000
const STOP_TIMEOUT_MS = 90_000
const POLL_MS = 50

/** The Kafka that runs in the background for this user, if any. */
export async function backgroundKafka(): Promise<BackgroundKafka | undefined> {
  const known = await readState()
  return known !== undefined && isAlive(known.pid) ? known : undefined
}

/**
 * Starts a Kafka that outlives this process: `script serve …` in a process of its own holds it.
 *
 * @throws LOCAL_KAFKA_UNAVAILABLE when it does not come up
 */
export async function startInBackground(
  script: string,
  args: readonly string[],
  onProgress: (line: string) => void,
): Promise<BackgroundKafka> {
  const running = await backgroundKafka()
  if (running?.state === 'running') return running
  await rm(stateFile(), { force: true })
  const holder = spawn(process.execPath, [script, 'serve', ...args], { detached: true, stdio: 'ignore' })
  holder.unref()
  const deadline = Date.now() + START_TIMEOUT_MS
  let shown = ''
  while (Date.now() < deadline) {
    const now = await readState()
    if (now !== undefined && now.line !== shown) {
      shown = now.line
      if (now.state === 'starting') onProgress(now.line)
    }
    if (now?.state === 'running') return now
    if (now?.state === 'failed') throw unavailable(now.line)
    if (holder.exitCode !== null) throw unavailable('The process that should hold Kafka ended.')
    await delay(POLL_MS)
  }
  throw unavailable('Kafka did not start in time.')
}

/** Ends the Kafka in the background; `false` when there was none. */
export async function stopInBackground(): Promise<boolean> {
  const running = await backgroundKafka()
  if (running === undefined) return false
  process.kill(running.pid, 'SIGTERM')
  const deadline = Date.now() + STOP_TIMEOUT_MS
  while (isAlive(running.pid)) {
    if (Date.now() > deadline) throw unavailable(`Process ${String(running.pid)} does not end.`)
    await delay(POLL_MS)
  }
  return true
}

/** Holds a Kafka until SIGTERM or SIGINT; what the process started by `startInBackground` does. */
export async function holdKafka(options: LocalKafkaOptions): Promise<void> {
  const ended = new Promise<void>(resolve => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  const keepAlive = setInterval(() => undefined, 60_000)
  let reporting = report('starting', 'Starting Kafka')
  const onProgress = (line: string): void => {
    reporting = reporting.then(() => report('starting', line))
  }
  try {
    const kafka = await provideKafka({ ...options, onProgress })
    await reporting
    await report('running', 'Running', kafka.bootstrapServers, kafka.source)
    await ended
    await kafka.stop()
    await rm(stateFile(), { force: true })
  } catch (error) {
    await reporting
    await report('failed', reasonOf(error))
  } finally {
    clearInterval(keepAlive)
  }
}

function report(state: BackgroundKafka['state'], line: string, bootstrapServers = '', source = ''): Promise<void> {
  return writeState({ state, pid: process.pid, bootstrapServers, source, line })
}

function stateFile(): string {
  return join(cacheFolder(), 'local-kafka', 'state.json')
}

async function readState(): Promise<BackgroundKafka | undefined> {
  const text = await readFile(stateFile(), 'utf8').catch(() => 'null')
  return STATE.safeParse(JSON.parse(text)).data
}

/** By rename, so that a reader never sees half of it. */
async function writeState(state: BackgroundKafka): Promise<void> {
  await mkdir(dirname(stateFile()), { recursive: true })
  const temporary = `${stateFile()}.${String(process.pid)}`
  await writeFile(temporary, JSON.stringify(state))
  await rename(temporary, stateFile())
}
