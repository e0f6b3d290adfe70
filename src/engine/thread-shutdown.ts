import type { Clock } from '../model/clock.ts'
import { asMillraceError, MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { Logger } from '../model/logger.ts'
import { withDeadline } from './deadline.ts'
import type { ThreadClients } from './thread-parts.ts'

/** How a thread is asked to stop. */
export interface StopOptions {
  /** Whether the member leaves the group; a given instance id stays. */
  readonly leaveGroup: boolean
  /** Until when the last commit may take. */
  readonly timeoutMs: number
}

/** What has to be brought to an end, all of one stream thread. */
export interface ShutdownParts {
  readonly clients: {
    readonly producer: Pick<ThreadClients['producer'], 'transaction' | 'abortTransaction' | 'close'>
    readonly member: Pick<ThreadClients['member'], 'leave' | 'close'>
    readonly fetcher: Pick<ThreadClients['fetcher'], 'close'>
    readonly cluster: Pick<ThreadClients['cluster'], 'close'>
  }
  readonly clock: Clock
  readonly logger: Logger
  readonly commit: () => Promise<void>
  readonly abort: (cause: MillraceError) => Promise<void>
  readonly closeTasks: () => void
}

/**
 * Drains a thread: commits what is open, or aborts it when that fails or takes too long; then leaves the group.
 *
 * @param broken - a failure that was not recovered from: what is open is half of something and must not be committed
 */
export async function drain(
  parts: ShutdownParts,
  { leaveGroup, timeoutMs }: StopOptions,
  broken: MillraceError | undefined,
): Promise<void> {
  const { clock, logger, clients } = parts
  const deadlineMs = clock.nowMs() + timeoutMs
  const leftMs = (): number => Math.max(1, deadlineMs - clock.nowMs())
  try {
    if (broken !== undefined) throw broken
    await withDeadline(parts.commit(), { clock, leftMs: leftMs(), what: 'the last commit' })
  } catch (error) {
    const cause = asMillraceError(error)
    if (isInDoubt(clients.producer.transaction)) {
      logger.warn({ err: cause }, 'what became of the last commit is not known: the next start asks the broker')
    } else {
      logger.warn(
        { err: cause },
        'the last commit failed: its transaction is aborted, and its input is processed again at the next start',
      )
      await attempt(parts, 'the last abort', leftMs(), () => parts.abort(cause))
    }
  }
  parts.closeTasks()
  if (leaveGroup) await attempt(parts, 'leaving the group', leftMs(), () => clients.member.leave(leftMs()))
  await letGo(parts, leftMs())
}

/** After a failure that stops the thread: aborts what is open, so that readers are not held up, and lets go of everything. */
export async function release(parts: ShutdownParts, error: unknown, options: StopOptions): Promise<void> {
  const { clients } = parts
  const { timeoutMs } = options
  const { transaction } = clients.producer
  if (transaction.ongoing && !isInDoubt(transaction)) {
    await attempt(parts, 'the last abort', timeoutMs, () => clients.producer.abortTransaction(timeoutMs))
  }
  parts.closeTasks()
  if (options.leaveGroup && !(error instanceof MillraceError && STAYS.has(error.code))) {
    await attempt(parts, 'leaving the group', timeoutMs, () => clients.member.leave(timeoutMs))
  }
  await letGo(parts, timeoutMs)
}

/** An EndTxn has gone out and no answer has come: it is asked for, never aborted (I10). */
function isInDoubt({ state }: ThreadClients['producer']['transaction']): boolean {
  return state === 'committing' || state === 'unknown'
}

/**
 * Whoever was replaced has no place left to give up: leaving would throw the newcomer out. And where the application stops,
 * the rebalance that follows a leave would overtake the word to those that have not read it yet.
 */
const STAYS: ReadonlySet<MillraceErrorCode> = new Set<MillraceErrorCode>(['INSTANCE_ID_IN_USE', 'SHUTDOWN_REQUESTED'])

async function letGo(parts: ShutdownParts, leftMs: number): Promise<void> {
  const { member, producer, fetcher, cluster } = parts.clients
  member.close()
  await attempt(parts, 'closing the producer', leftMs, () => producer.close(leftMs))
  await fetcher.close()
  await cluster.close()
}

/** What fails here is only told: the thread ends all the same, and nothing depends on it. */
async function attempt(parts: ShutdownParts, what: string, leftMs: number, action: () => Promise<void>): Promise<void> {
  try {
    await withDeadline(action(), { clock: parts.clock, leftMs, what })
  } catch (error) {
    parts.logger.warn({ err: asMillraceError(error) }, `${what} did not succeed while the thread stopped`)
  }
}
