import type { MillraceErrorCode, Reaction } from '../model/error-table.ts'
import { errorFields } from '../model/error-fields.ts'
import { MillraceError, type MillraceErrorDetails } from '../model/errors.ts'
import type { ApplicationSource } from './application-source.ts'
import type { StoreRestoreProgress } from './changelog-restorer.ts'
import type { StopOptions } from './thread-shutdown.ts'
import type { ThreadSnapshot } from './thread-metrics.ts'
import type { ThreadIdentity } from './thread-parts.ts'
import type { ThreadState } from './thread-state.ts'
import type { PreparedTopics } from './topic-preparation.ts'

/** What a worker is made with: it loads the application before it is started. */
export interface WorkerApplication {
  readonly source: Exclude<ApplicationSource, { kind: 'inline' }>
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

/** The methods of `Logger` that a worker may call from afar. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** What a worker says to the main thread. */
export type ThreadMessage =
  | { readonly type: 'state'; readonly state: ThreadState; readonly previous: ThreadState }
  | { readonly type: 'commit'; readonly records: number }
  | { readonly type: 'restore'; readonly progress: StoreRestoreProgress }
  | { readonly type: 'snapshot'; readonly request: number; readonly snapshot: ThreadSnapshot }
  | { readonly type: 'log'; readonly level: LogLevel; readonly fields: object; readonly message: string }
  | { readonly type: 'ended' }
  | { readonly type: 'failed'; readonly error: PostedError }

/** An error as plain data: classes do not survive the way between threads. */
export interface PostedError {
  readonly code: MillraceErrorCode
  readonly message: string
  readonly reaction: Reaction
  readonly action: string
  readonly details: Omit<MillraceErrorDetails, 'cause' | 'what'>
  readonly stack: string | undefined
}

/** An error as the main thread can build it again. */
export function postedError(error: MillraceError): PostedError {
  const { cause: _cause, what: _what, ...details } = error.details
  return {
    code: error.code,
    message: error.message,
    reaction: error.reaction,
    action: error.action,
    details,
    stack: causeStack(error),
  }
}

/** The error of another thread with its own place, message and remedy. */
export function receivedError({ code, message, reaction, action, details, stack }: PostedError): MillraceError {
  const received = new MillraceError(code, { ...details, reaction, action, what: message })
  received.message = message
  if (stack !== undefined) received.stack = stack
  return received
}

/** An internal fault is found by the stack of what was thrown first. */
function causeStack(error: MillraceError): string | undefined {
  return error.details.cause instanceof Error ? error.details.cause.stack : error.stack
}

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
