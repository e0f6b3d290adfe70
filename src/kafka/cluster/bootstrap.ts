import type { Clock } from '../../model/clock.ts'
import { MillraceError, reasonOf } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import { formatAddress, type Address } from '../connection/address.ts'
import { attemptUntil } from './attempts.ts'
import type { Backoff } from './backoff.ts'
import { Deadline } from './deadline.ts'

/** The same reason is not logged again within this time. */
const LOG_INTERVAL_MS = 10_000

/** What reaching the cluster for the first time needs. */
export interface BootstrapOptions {
  readonly servers: readonly Address[]
  readonly clock: Clock
  readonly logger: Logger
  readonly backoff: Backoff
  readonly timeoutMs: number
  /** One attempt over all servers. */
  readonly attempt: () => Promise<void>
}

/**
 * Tries until the cluster answers. What cannot get better by waiting (credentials, certificates, configuration, a
 * broker too old) is thrown at once.
 *
 * @throws MillraceError `BROKER_UNREACHABLE` at the deadline, with the last reason
 */
export async function bootstrap({
  servers,
  clock,
  logger,
  backoff,
  timeoutMs,
  attempt,
}: BootstrapOptions): Promise<void> {
  const names = servers.map(formatAddress).join(', ')
  let loggedReason = ''
  let loggedAtMs = Number.NEGATIVE_INFINITY
  await attemptUntil({
    clock,
    backoff,
    deadline: new Deadline(clock, timeoutMs),
    attempt,
    what: `No broker of ${names} answered`,
    mayPass: ({ reaction }) => reaction !== 'stop',
    onFailure: failure => {
      const reason = reasonOf(failure)
      if (reason === loggedReason && clock.nowMs() - loggedAtMs <= LOG_INTERVAL_MS) return
      logger.warn({ bootstrapServers: names, err: failure }, 'Kafka cannot be reached yet; trying again')
      loggedReason = reason
      loggedAtMs = clock.nowMs()
    },
    givenUp: reason =>
      new MillraceError('BROKER_UNREACHABLE', {
        cause: reason,
        what: `No broker of ${names} could be reached within ${String(timeoutMs)} ms. Last reason: ${reasonOf(reason)}`,
      }),
  })
}
