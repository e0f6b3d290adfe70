import type { Reaction } from '../model/error-definition.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import { MillraceError, type MillraceErrorDetails } from '../model/errors.ts'

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
