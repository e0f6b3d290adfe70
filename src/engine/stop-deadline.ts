import { MillraceError } from '../model/errors.ts'

/** How long after its deadline a stopping thread may still answer: it keeps the deadline itself, unless a step or a call holds it. */
export const STOP_GRACE_MS = 1_000

/** What a thread is given up with that did not stop in time. */
export function stopTimedOut(thread: string, timeoutMs: number): MillraceError {
  return new MillraceError('SHUTDOWN_TIMED_OUT', {
    what: `Thread ${thread} did not stop within ${String(timeoutMs)} ms (shutdown.timeout.ms); its transaction is left to the broker, or to the next start, to abort.`,
  })
}
