import { sleep, type Clock } from '../../model/clock.ts'
import { asMillraceError, type MillraceError } from '../../model/errors.ts'
import type { Backoff } from './backoff.ts'
import type { Deadline } from './deadline.ts'

/** What is tried, how long, and what is done about failures. */
export interface Attempts<T> {
  readonly clock: Clock
  readonly backoff: Pick<Backoff, 'next'>
  readonly deadline: Deadline
  readonly attempt: () => Promise<T>
  /** What did not happen when the deadline cuts the first attempt short; completes "… within N ms". */
  readonly what: string
  /** Whether a failure may have passed by the next attempt. */
  readonly mayPass: (failure: MillraceError) => boolean
  /** Told of a failure before the pause that follows it. */
  readonly onFailure: (failure: MillraceError) => void
  /** What is thrown at the deadline, with the last reason. */
  readonly givenUp: (reason: MillraceError) => MillraceError
}

/** Tries until it succeeds. @throws MillraceError at once a failure that waiting does not mend; at the deadline `givenUp` */
export async function attemptUntil<T>(attempts: Attempts<T>): Promise<T> {
  const { clock, backoff, deadline, attempt, what, mayPass, onFailure, givenUp } = attempts
  let earlier: MillraceError | undefined
  for (;;) {
    const outcome = attempt().then(value => ({ value }), failed)
    const ended = await deadline.bound(what, outcome).catch((late: unknown) => {
      // An attempt that the deadline cut short knows less than the one before it. The clock cannot tell which ones
      // were: a timer may fire a fraction of a millisecond before the deadline.
      throw givenUp(earlier ?? asMillraceError(late))
    })
    if ('value' in ended) return ended.value
    const { failure } = ended
    if (!mayPass(failure)) throw failure
    const delayMs = backoff.next()
    if (deadline.remainingMs <= delayMs) throw givenUp(failure)
    earlier = failure
    onFailure(failure)
    await sleep(clock, delayMs)
  }
}

function failed(thrown: unknown): { readonly failure: MillraceError } {
  return { failure: asMillraceError(thrown) }
}
