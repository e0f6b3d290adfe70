import { sleep, type Clock } from '../../model/clock.ts'
import { asMillraceError, MillraceError, reasonOf } from '../../model/errors.ts'
import type { Logger } from '../../model/logger.ts'
import { formatAddress, type Address } from '../connection/address.ts'
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
  const deadline = new Deadline(clock, timeoutMs)
  const names = servers.map(formatAddress).join(', ')
  let earlier: MillraceError | undefined
  let loggedReason = ''
  let loggedAtMs = Number.NEGATIVE_INFINITY
  for (;;) {
    const outcome = attempt().then(succeeded, asMillraceError)
    const failure = await deadline.bound(`No broker of ${names} answered`, outcome).catch((late: unknown) => {
      // An attempt that the deadline cut short knows less than the one before it. The clock cannot tell which ones
      // were: a timer may fire a fraction of a millisecond before the deadline.
      throw unreachable(names, timeoutMs, earlier ?? asMillraceError(late))
    })
    if (failure === undefined) return
    if (failure.reaction === 'stop') throw failure
    const delayMs = backoff.next()
    const reason = reasonOf(failure)
    if (deadline.remainingMs <= delayMs) throw unreachable(names, timeoutMs, failure)
    earlier = failure
    if (reason !== loggedReason || clock.nowMs() - loggedAtMs > LOG_INTERVAL_MS) {
      logger.warn({ bootstrapServers: names, err: failure }, 'Kafka cannot be reached yet; trying again')
      loggedReason = reason
      loggedAtMs = clock.nowMs()
    }
    await sleep(clock, delayMs)
  }
}

function succeeded(): undefined {
  return undefined
}

function unreachable(names: string, timeoutMs: number, failure: MillraceError): MillraceError {
  return new MillraceError('BROKER_UNREACHABLE', {
    cause: failure,
    what: `No broker of ${names} could be reached within ${String(timeoutMs)} ms. Last reason: ${reasonOf(failure)}`,
  })
}
