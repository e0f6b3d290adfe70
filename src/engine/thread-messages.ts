import { errorFields } from '../model/error-fields.ts'
import type { WorkerSource } from './application-source.ts'
import type { RestoreProgress } from './changelog-restorer.ts'
import type { StateAnswer, StateQuestion } from './state-question.ts'
import type { TaskInfo } from './task-info.ts'
import type { PostedError } from './posted-error.ts'
import type { StopOptions } from './thread-shutdown.ts'
import type { ThreadSnapshot } from './thread-metrics.ts'
import type { ThreadIdentity } from './thread-parts.ts'
import type { ThreadState } from './thread-state.ts'
import type { PreparedTopics } from './topic-preparation.ts'

/** What a worker is made with: it loads the application before it is started. */
export interface WorkerApplication {
  readonly source: WorkerSource
}

/** What a stream thread in a worker is started with. */
export interface ThreadStart {
  readonly name: string
  readonly identity: ThreadIdentity
  readonly topics: PreparedTopics
  /** One number: when the loop last turned, by wall clock in ms; the monotonic clock of each thread has a start of its own. */
  readonly turnedAt: SharedArrayBuffer
}

/** The first word to a worker. */
export interface StartCommand {
  readonly type: 'start'
  readonly start: ThreadStart
}

/** What the main thread says to a worker. */
export type ThreadCommand =
  | { readonly type: 'stop'; readonly options: StopOptions }
  | { readonly type: 'pause'; readonly paused: boolean }
  | { readonly type: 'askForShutdown' }
  | { readonly type: 'snapshot'; readonly request: number }
  | { readonly type: 'read'; readonly request: number; readonly question: StateQuestion }

/** The methods of `Logger` that a worker may call from afar. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** What a worker says to the main thread. */
export type ThreadMessage =
  | { readonly type: 'state'; readonly state: ThreadState; readonly previous: ThreadState }
  | { readonly type: 'commit'; readonly records: number }
  | { readonly type: 'restore'; readonly progress: RestoreProgress }
  | { readonly type: 'snapshot'; readonly request: number; readonly snapshot: ThreadSnapshot }
  | { readonly type: 'tasks'; readonly tasks: readonly TaskInfo[] }
  | { readonly type: 'read'; readonly request: number; readonly answer: StateAnswer }
  | { readonly type: 'log'; readonly level: LogLevel; readonly fields: object; readonly message: string }
  | { readonly type: 'ended' }
  | { readonly type: 'failed'; readonly error: PostedError }

/** A line of the log as it can be posted: whatever a step logs, a function or a socket in it must not fail the step. */
export function logMessage(level: LogLevel, fields: object, message: string): ThreadMessage {
  const posted = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, postable(value)]))
  return { type: 'log', level, fields: posted, message }
}

function postable(value: unknown): unknown {
  // An error loses its code on the way, and its cause may hold anything.
  if (value instanceof Error) return errorFields(value)
  if (typeof value === 'function' || typeof value === 'symbol') return String(value)
  if (typeof value !== 'object') return value
  try {
    return structuredClone(value)
  } catch {
    return '(cannot be logged from a worker)'
  }
}
