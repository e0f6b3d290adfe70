import type { Clock } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import type { StateAnswer } from './state-question.ts'
import { postedError } from './posted-error.ts'

/** A thread answers after its next commit; one that does not within this time is blocked, or recovers from a failure. */
const READ_MS_MAX = 30_000

/** An answer of a thread, or that there was none in time. */
export function withReadDeadline(
  clock: Pick<Clock, 'after'>,
  thread: string,
  ask: (answer: (answer: StateAnswer) => void) => void,
): Promise<StateAnswer> {
  return new Promise(resolve => {
    const timer = clock.after(READ_MS_MAX, () =>
      resolve(failed(`The thread ${thread} did not answer within ${String(READ_MS_MAX)} ms.`)),
    )
    ask(answer => {
      timer.cancel()
      resolve(answer)
    })
  })
}

/** The answer of a thread that is gone. */
export function readEnded(thread: string): StateAnswer {
  return failed(`The thread ${thread} has ended.`)
}

function failed(what: string): StateAnswer {
  return { type: 'failed', error: postedError(new MillraceError('STATE_NOT_READY', { what })) }
}
