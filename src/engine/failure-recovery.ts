import type { Clock } from '../model/clock.ts'
import { sleep } from '../model/clock.ts'
import { unreachable } from '../model/assert.ts'
import { asMillraceError, MillraceError } from '../model/errors.ts'
import type { MillraceErrorCode } from '../model/error-table.ts'
import type { Logger } from '../model/logger.ts'

/** The same failure this often in a row, without a commit between, is not going to pass by itself. */
const FAILURES_MAX = 10
/** Fences without progress: two processes take the transactional id from each other. */
const FENCES_MAX = 3
const BACKOFF_MS_MIN = 10
const BACKOFF_MS_MAX = 1_000

/** Of these an outage of brokers may bring any number: they are waited out. */
const OUTAGES: ReadonlySet<MillraceErrorCode> = new Set<MillraceErrorCode>([
  'REQUEST_TIMED_OUT',
  'CONNECTION_LOST',
  'BROKER_UNREACHABLE',
  'COMMIT_OUTCOME_UNKNOWN',
  'TRANSACTION_TIMED_OUT',
  'MEMBERSHIP_LOST',
])

export interface FailureRecoveryOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Aborts the open transaction and takes the tasks back to their last commit. */
  readonly abort: (cause: MillraceError) => Promise<void>
  /** Drops every task, gets a new producer epoch and joins with nothing owned. */
  readonly startOver: (cause: MillraceError) => Promise<void>
  readonly stopRequested: () => boolean
}

/** Turns every error of the loop into its reaction (architecture.md section 8). */
export class FailureRecovery {
  readonly #options: FailureRecoveryOptions
  #last: MillraceErrorCode | undefined
  #repeats = 0

  constructor(options: FailureRecoveryOptions) {
    this.#options = options
  }

  /** A commit succeeded: whatever failed before has passed. */
  progressed(): void {
    this.#last = undefined
    this.#repeats = 0
  }

  /**
   * Brings the thread back to its last commit.
   *
   * @returns the failure when a stop was asked for before that succeeded: nothing may be committed any more then
   * @throws MillraceError what must stop the thread
   */
  async recover(thrown: unknown): Promise<MillraceError | undefined> {
    let error = asMillraceError(thrown)
    for (;;) {
      if (error.reaction === 'stop' || error.reaction === 'deadLetter') throw error
      this.#count(error)
      this.#options.logger.warn(
        { code: error.code, reaction: error.reaction, err: error.message },
        'going back to the last commit',
      )
      try {
        await this.#react(error)
        return undefined
      } catch (next) {
        error = asMillraceError(next)
      }
      if (this.#options.stopRequested()) return error
      await sleep(this.#options.clock, Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN << Math.min(this.#repeats, 10)))
    }
  }

  async #react(error: MillraceError): Promise<void> {
    switch (error.reaction) {
      case 'retry':
      case 'abort':
      case 'refence':
        return await this.#options.abort(error)
      case 'rejoin':
        return await this.#options.startOver(error)
      case 'deadLetter':
      case 'stop':
        throw error
      default:
        return unreachable(error.reaction)
    }
  }

  #count(error: MillraceError): void {
    this.#repeats = error.code === this.#last ? this.#repeats + 1 : 1
    this.#last = error.code
    if (OUTAGES.has(error.code)) return
    if (this.#repeats > (error.code === 'PRODUCER_FENCED' ? FENCES_MAX : FAILURES_MAX)) {
      throw new MillraceError('TASK_FAILED_REPEATEDLY', {
        cause: error,
        what: `The same failure came ${String(this.#repeats)} times in a row, without a commit between: ${error.code}, ${error.message}`,
        action: error.action,
      })
    }
  }
}
