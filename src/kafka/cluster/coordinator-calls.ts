import { sleep, type Clock, type Random } from '../../model/clock.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import type { Connection } from '../connection/connection.ts'
import type { ApiName, RequestBodies, ResponseBodies } from '../protocol/messages.generated.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import type { ConnectionPurpose } from './broker-pool.ts'
import { coordinatorBackoff, type CoordinatorDirectory, type CoordinatorKind } from './coordinator-directory.ts'
import { Deadline } from './deadline.ts'

/** How a call on a coordinator behaves. */
export interface CoordinatorCallOptions<A extends ApiName> {
  /** @default coordinator */
  readonly purpose?: ConnectionPurpose
  /** @default the best that both sides know */
  readonly version?: number
  /** Until when the call may be repeated. */
  readonly timeoutMs: number
  /** Deadline of one attempt. @default the request timeout; for purpose `join` what is left of `timeoutMs` */
  readonly attemptTimeoutMs?: number
  /** Whether a request whose answer was lost may be sent again. */
  readonly retryLost: boolean
  /** All error codes of an answer, also those inside of it. */
  readonly errorCodesOf: (response: ResponseBodies[A]) => readonly number[]
}

/** What calls on coordinators need. */
interface CoordinatorCallPorts {
  readonly coordinators: CoordinatorDirectory
  readonly connect: (nodeId: number, purpose: ConnectionPurpose) => Promise<Connection>
  readonly clock: Clock
  readonly random: Random
  readonly requestTimeoutMs: number
}

interface Coordinated {
  readonly kind: CoordinatorKind
  readonly id: string
}

/** Calls that follow a coordinator from broker to broker. */
export class CoordinatorCalls {
  readonly #ports: CoordinatorCallPorts

  constructor(ports: CoordinatorCallPorts) {
    this.#ports = ports
  }

  /** As `Cluster.coordinatorCall`. */
  async call<A extends ApiName>(
    { kind, id }: Coordinated,
    api: A,
    body: RequestBodies[A],
    options: CoordinatorCallOptions<A>,
  ): Promise<ResponseBodies[A]> {
    const { coordinators, clock, random, requestTimeoutMs } = this.#ports
    const purpose = options.purpose ?? 'coordinator'
    const attemptMs = options.attemptTimeoutMs ?? (purpose === 'join' ? options.timeoutMs : requestTimeoutMs)
    const version = options.version === undefined ? {} : { version: options.version }
    const deadline = new Deadline(clock, options.timeoutMs)
    const backoff = coordinatorBackoff(random)
    for (;;) {
      const connection = await this.#connect({ kind, id }, purpose, deadline)
      const timeoutMs = Math.max(1, Math.min(deadline.remainingMs, attemptMs))
      const answer = await connection.send(api, body, { ...version, timeoutMs }).catch(asMillraceError)
      const delayMs = backoff.next()
      const last = deadline.remainingMs <= delayMs
      if (answer instanceof MillraceError) {
        coordinators.forget(kind, id)
        if (last || !options.retryLost || !isLost(answer)) throw answer
      } else {
        const codes = options.errorCodesOf(answer)
        const moved = codes.includes(ERROR_CODE.NOT_COORDINATOR) || codes.includes(ERROR_CODE.COORDINATOR_NOT_AVAILABLE)
        if (moved) coordinators.forget(kind, id)
        if (last || (!moved && !codes.includes(ERROR_CODE.COORDINATOR_LOAD_IN_PROGRESS))) return answer
      }
      await sleep(clock, delayMs)
    }
  }

  /** Finds the coordinator and opens a connection; nothing was sent yet, so every passing failure is tried again. */
  async #connect({ kind, id }: Coordinated, purpose: ConnectionPurpose, deadline: Deadline): Promise<Connection> {
    const { coordinators, connect, clock, random } = this.#ports
    const backoff = coordinatorBackoff(random)
    for (;;) {
      const nodeId = await coordinators.find(kind, id, deadline)
      const what = `The coordinator of ${kind} ${id} (broker ${String(nodeId)}) could not be reached`
      const opened = await deadline.bound(what, connect(nodeId, purpose)).catch(asMillraceError)
      if (!(opened instanceof MillraceError)) return opened
      // For some seconds after a crash the look-up still names the dead broker; its address waits out a back-off.
      coordinators.forget(kind, id)
      const delayMs = backoff.next()
      if (!isLost(opened) || deadline.remainingMs <= delayMs) throw opened
      await sleep(clock, delayMs)
    }
  }
}

/** Whether the request may have been lost on the way, there or back. */
function isLost({ code }: MillraceError): boolean {
  return code === 'CONNECTION_LOST' || code === 'REQUEST_TIMED_OUT'
}
