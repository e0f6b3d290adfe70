import { existsSync } from 'node:fs'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { armCrashPoint, CRASH_POINTS } from '../model/crash-point.ts'
import { assert, unreachable } from '../model/assert.ts'
import { asMillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { planApplication } from '../topology/plan-application.ts'
import { loadSource } from './application-source.ts'
import { deferred } from './deferred.ts'
import { EventLoopDelay } from './event-loop-delay.ts'
import { StreamThread } from './stream-thread.ts'
import { systemClock } from './system-clock.ts'
import {
  logMessage,
  type LogLevel,
  type StartCommand,
  type ThreadCommand,
  type ThreadMessage,
  type ThreadStart,
  type WorkerApplication,
} from './thread-messages.ts'
import { postedError } from './posted-error.ts'
import { taskInfosOf } from './task-info.ts'
import { snapshotOf } from './thread-snapshot.ts'

/** How old what the main thread knows of the tasks may be. */
const TASKS_TOLD_MS = 250

/** Entry of a worker: loads the application by itself, runs one stream thread, and reports by messages. */
async function main(port: MessagePort, { source }: WorkerApplication): Promise<void> {
  const post = (message: ThreadMessage): void => port.postMessage(message)
  armFromEnvironment()
  const commands = new Commands(port)
  const loading = loadSource(source)
  // Told once the thread is started.
  loading.catch(() => undefined)
  try {
    const start = await commands.started
    const { topology, config } = await loading
    let tasksToldMs = 0
    const tellTasks = (told: StreamThread): void => {
      tasksToldMs = systemClock.nowMs()
      post({ type: 'tasks', tasks: taskInfosOf(told, start.name) })
    }
    const thread: StreamThread = new StreamThread({
      name: start.name,
      config,
      plan: planApplication(topology, config.streamsProperties),
      topics: start.topics,
      identity: start.identity,
      clock: systemClock,
      random: Math.random,
      logger: postingLogger(post, start.name),
      listeners: {
        onState: (state, previous) => {
          // First the tasks: who hears that the thread runs looks at them.
          tellTasks(thread)
          post({ type: 'state', state, previous })
        },
        onCommit: records => post({ type: 'commit', records }),
        onRestore: progress => post({ type: 'restore', progress }),
      },
    })
    const eventLoopDelay = new EventLoopDelay(systemClock.nowMs())
    const turnedAt = new Float64Array(start.turnedAt)
    thread.metrics.onTurn(() => {
      turnedAt[0] = systemClock.wallClockMs()
      if (systemClock.nowMs() - tasksToldMs >= TASKS_TOLD_MS) tellTasks(thread)
    })
    commands.handle(command => {
      switch (command.type) {
        case 'stop':
          return thread.stop(command.options)
        case 'pause':
          return thread.pause(command.paused)
        case 'askForShutdown':
          return thread.rebalancer.askForShutdown()
        case 'read':
          return thread.reads.ask(command.question, answer => post({ type: 'read', request: command.request, answer }))
        case 'snapshot':
          return post({
            type: 'snapshot',
            request: command.request,
            snapshot: snapshotOf(thread, start.name, systemClock.nowMs(), eventLoopDelay),
          })
        default:
          return unreachable(command)
      }
    })
    await thread.run()
    post({ type: 'ended' })
  } catch (error) {
    post({ type: 'failed', error: postedError(asMillraceError(error)) })
  } finally {
    port.close()
  }
}

/** What the main thread says, kept until the thread is there to hear it. */
class Commands {
  readonly started: Promise<ThreadStart>
  readonly #waiting: ThreadCommand[] = []
  #handler: ((command: ThreadCommand) => void) | undefined

  constructor(port: MessagePort) {
    const { promise, resolve } = deferred<ThreadStart>()
    this.started = promise
    port.on('message', (command: StartCommand | ThreadCommand) => {
      if (command.type === 'start') resolve(command.start)
      else if (this.#handler === undefined) this.#waiting.push(command)
      else this.#handler(command)
    })
  }

  handle(handler: (command: ThreadCommand) => void): void {
    this.#handler = handler
    for (const command of this.#waiting.splice(0)) handler(command)
  }
}

/** The log of a worker is written by the main thread: one writer, whole lines. */
function postingLogger(post: (message: ThreadMessage) => void, thread: string): Logger {
  const at =
    (level: LogLevel) =>
    (fields: object, message: string): void =>
      post(logMessage(level, { thread, ...fields }, message))
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/**
 * `MILLRACE_TEST_CRASH_AT=<point>[:<nth>]` ends the process as kill −9 would, the nth time the point is passed; with
 * `MILLRACE_TEST_CRASH_WHEN=<file>` only passes while the file exists count. For fault tests only.
 */
function armFromEnvironment(): void {
  const wanted = process.env['MILLRACE_TEST_CRASH_AT']
  if (wanted === undefined) return
  const name = CRASH_POINTS.find(point => wanted === point || wanted.startsWith(`${point}:`))
  assert(name !== undefined, 'MILLRACE_TEST_CRASH_AT names a crash point', { wanted })
  let left = Number(wanted.slice(name.length + 1) || '1')
  const gate = process.env['MILLRACE_TEST_CRASH_WHEN']
  armCrashPoint(name, () => {
    if (gate !== undefined && !existsSync(gate)) return
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
  })
}

assert(parentPort !== null, 'a stream thread runs in a worker')
await main(parentPort, workerData as WorkerApplication)
