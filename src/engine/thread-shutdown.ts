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
  /** How long it may take in all. */
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
  /** Bounds what the commit or abort that follows waits for, all of it together. */
  readonly allow: (stepsMs: number) => void
  readonly commit: () => Promise<void>
  readonly abort: (cause: MillraceError) => Promise<void>
  readonly closeTasks: () => void
}

/** Of what is left, what one step may use by itself: those behind it need theirs to end in order. */
const STEP_SHARE = 2 / 3
/** Of what is left, when a step is given up that did not keep to it. */
const PATIENCE_SHARE = 5 / 6

/** What is left of the time of a stop. Each step gets a share, so that all of them together never take all of it. */
class TimeLeft {
  readonly #clock: Clock
  readonly #endsAtMs: number

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock
    this.#endsAtMs = clock.nowMs() + timeoutMs
  }

  /** How long the next step may wait for brokers. */
  get stepMs(): number {
    return this.#share(STEP_SHARE)
  }

  /** How long the next step is waited for. */
  get patienceMs(): number {
    return this.#share(PATIENCE_SHARE)
  }

  #share(share: number): number {
    return Math.max(1, (this.#endsAtMs - this.#clock.nowMs()) * share)
  }
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
  const time = new TimeLeft(clock, timeoutMs)
  try {
    if (broken !== undefined) throw broken
    parts.allow(time.stepMs)
    await withDeadline(parts.commit(), { clock, leftMs: time.patienceMs, what: 'the last commit' })
  } catch (error) {
    const cause = asMillraceError(error)
    // It still goes on: from here on it must not be able to commit anything, nor an abort run beside it.
    const goesOn = cause.code === 'SHUTDOWN_TIMED_OUT'
    if (goesOn) await clients.cluster.close()
    if (isInDoubt(clients.producer.transaction)) {
      logger.warn({ err: cause }, 'what became of the last commit is not known: the next start asks the broker')
    } else {
      logger.warn(
        { err: cause },
        'the last commit failed: its transaction is aborted, now or by the next start, which processes its input again',
      )
      parts.allow(time.stepMs)
      if (!goesOn) await attempt(parts, time, 'the last abort', () => parts.abort(cause))
    }
  }
  parts.closeTasks()
  if (leaveGroup) await attempt(parts, time, 'leaving the group', stepsMs => clients.member.leave(stepsMs))
  await letGo(parts, time)
}

/** After a failure that stops the thread: aborts what is open, so that readers are not held up, and lets go of everything. */
export async function release(
  parts: ShutdownParts,
  error: unknown,
  { leaveGroup, timeoutMs }: StopOptions,
): Promise<void> {
  const { producer, member } = parts.clients
  const time = new TimeLeft(parts.clock, timeoutMs)
  const { transaction } = producer
  if (transaction.ongoing && !isInDoubt(transaction)) {
    await attempt(parts, time, 'the last abort', stepsMs => producer.abortTransaction(stepsMs))
  }
  parts.closeTasks()
  if (leaveGroup && !(error instanceof MillraceError && STAYS.has(error.code))) {
    await attempt(parts, time, 'leaving the group', stepsMs => member.leave(stepsMs))
  }
  await letGo(parts, time)
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

async function letGo(parts: ShutdownParts, time: TimeLeft): Promise<void> {
  const { member, producer, fetcher, cluster } = parts.clients
  member.close()
  await attempt(parts, time, 'closing the producer', stepsMs => producer.close(stepsMs))
  await fetcher.close()
  await cluster.close()
}

/** What fails here is only told: the thread ends all the same, and nothing depends on it. */
async function attempt(
  parts: ShutdownParts,
  time: TimeLeft,
  what: string,
  action: (stepsMs: number) => Promise<void>,
): Promise<void> {
  try {
    await withDeadline(action(time.stepMs), { clock: parts.clock, leftMs: time.patienceMs, what })
  } catch (error) {
    parts.logger.warn({ err: asMillraceError(error) }, `${what} did not succeed while the thread stopped`)
  }
}
