import { type Clock, sleep } from '../../model/clock.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import { Deadline } from '../cluster/deadline.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Connection } from '../connection/connection.ts'
import { type CallKind, reactionTo } from '../error-reactions.ts'
import type { ApiName, RequestBodies, ResponseBodies } from '../protocol/api.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import { brokerFailure, isFinal } from './producer-failure.ts'
import { retryPauseMs } from './retry-pause.ts'
import type { SpokenVersions } from './transaction-versions.ts'

/** Where a call goes: to the coordinator of an id, or to any broker. */
export type CallRoute = { readonly kind: 'group' | 'transaction'; readonly id: string } | 'anyBroker'

/** One call and what its loop may do. */
export interface TransactionCall<A extends ApiName> {
  readonly route: CallRoute
  readonly api: A
  readonly versions: SpokenVersions
  readonly body: RequestBodies[A]
  readonly callKind: CallKind
  readonly deadline: Deadline
  /** Whether the same request may be sent again when no answer came. */
  readonly resendsLost: boolean
  /** Every error code of the answer, 0 included. */
  readonly codesOf: (answer: ResponseBodies[A]) => readonly number[]
  /** The bytes went to the socket. */
  readonly onSent?: () => void
  /** No answer came: the broker may have done it, or may do it later. */
  readonly onLost?: () => void
  /** The call is pointless from now on when this says false. */
  readonly isWanted?: () => boolean
}

/** An answer without any error that a retry could clear. */
export interface TransactionAnswer<A extends ApiName> {
  readonly answer: ResponseBodies[A]
  /** An earlier attempt got no answer, or one that leaves open whether it was done. */
  readonly afterDoubt: boolean
}

/** Calls on coordinators: finds them, waits for them, and asks again by deadline, never by count. */
export class TransactionCalls {
  readonly #cluster: Cluster
  readonly #clock: Clock
  readonly #requestTimeoutMs: number

  constructor(cluster: Cluster, clock: Clock, requestTimeoutMs: number) {
    this.#cluster = cluster
    this.#clock = clock
    this.#requestTimeoutMs = requestTimeoutMs
  }

  /** A deadline from now. */
  deadline(timeoutMs: number): Deadline {
    return new Deadline(this.#clock, timeoutMs)
  }

  /**
   * Sends until there is an answer that no retry would change.
   *
   * @throws CallFailure when the deadline passes, an answer was lost and must not be asked for again, or the connection
   *   is refused for good
   */
  async call<A extends ApiName>(call: TransactionCall<A>): Promise<TransactionAnswer<A>> {
    let afterDoubt = false
    let last: MillraceError | undefined
    for (let failures = 1; ; failures += 1) {
      if (call.deadline.passed || call.isWanted?.() === false)
        throw new CallFailure(this.#timeout(call, last), afterDoubt)
      const connection = await this.#connect(call, afterDoubt)
      if (connection instanceof MillraceError) {
        last = connection
      } else {
        const version = this.#versionFor(call, connection, afterDoubt)
        try {
          const answer = await this.#send(call, connection, version)
          const code = retriedCode(call.codesOf(answer), call.callKind)
          if (code === undefined) return { answer, afterDoubt }
          afterDoubt ||= leavesOpen(code)
          last = brokerFailure(code, call.callKind, placeOf(call))
          if (code !== ERROR_CODE.COORDINATOR_LOAD_IN_PROGRESS && code !== ERROR_CODE.CONCURRENT_TRANSACTIONS)
            this.#forget(call.route)
        } catch (error) {
          last = asMillraceError(error)
          afterDoubt = true
          call.onLost?.()
          this.#forget(call.route)
          if (!call.resendsLost || last.reaction === 'stop') throw new CallFailure(last, true)
        }
      }
      await sleep(this.#clock, Math.min(retryPauseMs(failures), call.deadline.remainingMs))
    }
  }

  /** The connection, or why there is none now. */
  async #connect<A extends ApiName>(
    call: TransactionCall<A>,
    afterDoubt: boolean,
  ): Promise<Connection | MillraceError> {
    const { route, deadline } = call
    try {
      if (route === 'anyBroker')
        return await deadline.bound('No broker was reached', this.#cluster.anyConnection('control'))
      const nodeId = await deadline.bound('No coordinator was found', this.#cluster.coordinator(route.kind, route.id))
      return await deadline.bound('No coordinator was reached', this.#cluster.connection(nodeId, 'coordinator'))
    } catch (error) {
      const cause = asMillraceError(error)
      if (isFinal(cause)) throw new CallFailure(cause, afterDoubt)
      this.#forget(route)
      return cause
    }
  }

  async #send<A extends ApiName>(
    call: TransactionCall<A>,
    connection: Connection,
    version: number,
  ): Promise<ResponseBodies[A]> {
    const timeoutMs = Math.max(1, Math.min(this.#requestTimeoutMs, call.deadline.remainingMs))
    const answer = connection.send(call.api, call.body, { version, timeoutMs })
    call.onSent?.()
    return answer
  }

  #versionFor<A extends ApiName>(
    { api, versions }: TransactionCall<A>,
    connection: Connection,
    afterDoubt: boolean,
  ): number {
    const version = connection.apiVersions.best(api, versions.max)
    if (version !== undefined && version >= versions.min) return version
    throw new CallFailure(
      new MillraceError('TRANSACTION_ABORTED', {
        reaction: 'refence',
        what: `The broker no longer takes ${api} ${String(versions.max)}: transaction.version of the cluster has changed.`,
      }),
      afterDoubt,
    )
  }

  #forget(route: CallRoute): void {
    if (route !== 'anyBroker') this.#cluster.forgetCoordinator(route.kind, route.id)
  }

  #timeout<A extends ApiName>(call: TransactionCall<A>, last: MillraceError | undefined): MillraceError {
    if (last?.code === 'REQUEST_TIMED_OUT') return last
    const because = last === undefined ? '' : `: ${last.message}`
    return new MillraceError('REQUEST_TIMED_OUT', {
      what: `${placeOf(call)} was not answered within ${String(call.deadline.totalMs)} ms${because}`,
      cause: last,
      ...(last?.details.kafkaCode === undefined ? {} : { kafkaCode: last.details.kafkaCode }),
    })
  }
}

/** A call that ended without an answer of use. */
export class CallFailure extends Error {
  /** What the engine is told. */
  readonly failure: MillraceError
  /** Whether the broker may have done it all the same. */
  readonly inDoubt: boolean

  constructor(failure: MillraceError, inDoubt: boolean) {
    super(failure.message, { cause: failure })
    this.failure = failure
    this.inDoubt = inDoubt
  }
}

/** The error inside a `CallFailure`, else the error itself. */
export function failureOf(error: unknown): MillraceError {
  return error instanceof CallFailure ? error.failure : asMillraceError(error)
}

/** A code that a retry may clear, when there are no others. */
function retriedCode(codes: readonly number[], callKind: CallKind): number | undefined {
  let retried: number | undefined
  for (const code of codes) {
    if (code === 0 || code === ERROR_CODE.OPERATION_NOT_ATTEMPTED) continue
    if (reactionTo(code, callKind) !== 'retry') return undefined
    retried ??= code
  }
  return retried
}

/**
 * Whether the broker may have done it although it answered an error: 14 and 51 are given before anything is written; the
 * others also when the coordinator wrote its log and then lost it.
 */
function leavesOpen(code: number): boolean {
  return code !== ERROR_CODE.COORDINATOR_LOAD_IN_PROGRESS && code !== ERROR_CODE.CONCURRENT_TRANSACTIONS
}

function placeOf<A extends ApiName>({ api, route }: TransactionCall<A>): string {
  if (route === 'anyBroker') return api
  return route.kind === 'group' ? `${api} for group ${route.id}` : `${api} of transactional id ${route.id}`
}
