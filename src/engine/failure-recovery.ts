import type { Clock } from '../model/clock.ts'
import { sleep } from '../model/clock.ts'
import { unreachable } from '../model/assert.ts'
import { asMillraceError, MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { Logger } from '../model/logger.ts'
import { isOutage } from './outages.ts'

/** The same failure this often, without a commit between, is not going to pass by itself. */
const FAILURES_MAX = 10
/** Fences without progress: two processes take the transactional id from each other. */
const FENCES_MAX = 3
/** A failure is forgotten after this time: a thread without input commits nothing, and a failure a week does not add up. */
const REMEMBERED_MS = 600_000
const BACKOFF_MS_MIN = 10
const BACKOFF_MS_MAX = 1_000

/** The ways back that a thread has. */
export interface FailureRecoveryOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Aborts the open transaction and takes the tasks back to their last commit. */
  readonly abort: (cause: MillraceError) => Promise<void>
  /** Drops every task, gets a new producer epoch and joins with nothing owned. */
  readonly startOver: (cause: MillraceError) => Promise<void>
  readonly stopRequested: () => boolean
}

/** Turns every error of the loop into its reaction (docs/reliability.md). */
export class FailureRecovery {
  readonly #options: FailureRecoveryOptions
  /** Failures since the last commit; those of one outage may alternate, so each code counts by itself. */
  readonly #counts = new Map<MillraceErrorCode, { readonly count: number; readonly lastMs: number }>()

  constructor(options: FailureRecoveryOptions) {
    this.#options = options
  }

  /** A commit succeeded: whatever failed before has passed. */
  progressed(): void {
    this.#counts.clear()
  }

  /**
   * Brings the thread back to its last commit.
   *
   * @returns the failure when a stop was asked for before that succeeded: nothing may be committed any more then
   * @throws MillraceError what must stop the thread
   */
  async recover(thrown: unknown): Promise<MillraceError | undefined> {
    const { clock, logger, stopRequested } = this.#options
    let error = asMillraceError(thrown)
    let startsOver = false
    for (;;) {
      if (error.reaction === 'stop' || error.reaction === 'deadLetter') throw error
      // The next start asks the group; an abort would break I10, and hide this failure behind that one.
      if (error.code === 'COMMIT_OUTCOME_UNKNOWN' && stopRequested()) return error
      const count = this.#count(error)
      logger.warn({ err: error }, 'going back to the last commit')
      // The first reaction is at once; what fails again and again must not keep the processor busy.
      if (count > 1) await sleep(clock, Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN << Math.min(count, 10)))
      // Half of a start over is none: an abort afterwards would leave a thread that never joins again.
      startsOver ||= startsOverAfter(error)
      try {
        await (startsOver ? this.#options.startOver(error) : this.#options.abort(error))
        return undefined
      } catch (next) {
        error = asMillraceError(next)
      }
      if (stopRequested()) return error
    }
  }

  /** How often the failure has come since the last commit. @throws MillraceError `TASK_FAILED_REPEATEDLY` */
  #count(error: MillraceError): number {
    const nowMs = this.#options.clock.nowMs()
    const before = this.#counts.get(error.code)
    const count = before === undefined || nowMs - before.lastMs > REMEMBERED_MS ? 1 : before.count + 1
    this.#counts.set(error.code, { count, lastMs: nowMs })
    if (!isOutage(error) && count > (error.code === 'PRODUCER_FENCED' ? FENCES_MAX : FAILURES_MAX)) {
      throw new MillraceError('TASK_FAILED_REPEATEDLY', {
        cause: error,
        what: `The same failure came ${String(count)} times without a commit between: ${error.code}, ${error.message}`,
        action: error.action,
      })
    }
    return count
  }
}

function startsOverAfter({ reaction }: MillraceError): boolean {
  switch (reaction) {
    case 'rejoin':
      return true
    case 'retry':
    case 'abort':
    case 'refence':
    case 'deadLetter':
    case 'stop':
      return false
    default:
      return unreachable(reaction)
  }
}
