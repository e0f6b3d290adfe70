import type { Clock } from '../model/clock.ts'
import { MillraceError, reasonOf } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import { attemptUntil } from '../kafka/cluster/attempts.ts'
import type { Backoff } from '../kafka/cluster/backoff.ts'
import type { Deadline } from '../kafka/cluster/deadline.ts'
import { isOutage } from './outages.ts'

/** How long a start may be interrupted, and what paces its attempts. */
export interface StartAttemptsOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly backoff: Pick<Backoff, 'next'>
  /** `startup.timeout.ms` from the beginning of the start. */
  readonly deadline: Deadline
}

/**
 * Does again what an outage of brokers interrupts. A cluster that was reached may go away before it has answered all that
 * a start asks; that is no other failure than one that is not reached yet.
 *
 * @throws MillraceError `BROKER_UNREACHABLE` at the deadline, with the last reason; at once what waiting does not mend
 */
export function throughOutages<T>(
  { clock, logger, backoff, deadline }: StartAttemptsOptions,
  attempt: () => Promise<T>,
): Promise<T> {
  const what = 'The cluster was reached, but did not answer all that a start asks'
  return attemptUntil({
    clock,
    backoff,
    deadline,
    attempt,
    what,
    mayPass: failure => isOutage(failure) || isPassing(failure),
    onFailure: failure => logger.warn({ err: failure }, 'The start was interrupted by an outage; trying again'),
    givenUp: reason =>
      new MillraceError('BROKER_UNREACHABLE', {
        cause: reason,
        what: `${what} within ${String(deadline.totalMs)} ms. Last reason: ${reasonOf(reason)}`,
      }),
  })
}

/** A broker's refusal that waiting mends, such as a controller that is being elected, which outlasted its request. */
function isPassing({ code, reaction }: MillraceError): boolean {
  return code === 'KAFKA_ERROR' && reaction === 'retry'
}
