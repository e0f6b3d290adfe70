import { sleep, type Clock, type Random } from '../../model/clock.ts'
import { MillraceError } from '../../model/errors.ts'
import type { Connection } from '../connection/connection.ts'
import { ERROR_CODE, kafkaErrorName } from '../protocol/error-codes.ts'
import { Backoff } from './backoff.ts'
import type { Deadline } from './deadline.ts'

/** What a coordinator coordinates: a consumer group, or a transactional id. */
export type CoordinatorKind = 'group' | 'transaction'

/** Where a coordinator was found. */
export interface FoundCoordinator {
  readonly nodeId: number
  readonly host: string
  readonly port: number
}

const KEY_TYPES: Readonly<Record<CoordinatorKind, number>> = { group: 0, transaction: 1 }

/** From 4 on one request asks for several coordinators (KIP-699). */
const BATCHED_VERSION = 4
const AUTHORIZATION_FAILURES: ReadonlySet<number> = new Set<number>([
  ERROR_CODE.GROUP_AUTHORIZATION_FAILED,
  ERROR_CODE.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
])

/** Delays between look-ups and between calls to a coordinator that moves: it is often back within milliseconds. */
const COORDINATOR_BACKOFF_MS = 1
const COORDINATOR_BACKOFF_MAX_MS = 100

/** Delays for calls to a coordinator, from 1 to 100 ms. */
export function coordinatorBackoff(random: Random): Backoff {
  return new Backoff(COORDINATOR_BACKOFF_MS, COORDINATOR_BACKOFF_MAX_MS, random)
}

/** Which node coordinates which group or transactional id, as far as it was asked for. */
export class CoordinatorDirectory {
  readonly #connect: () => Promise<Connection>
  readonly #onFound: (found: FoundCoordinator) => void
  readonly #clock: Clock
  readonly #random: Random
  readonly #known = new Map<string, number>()

  /**
   * @param connect - a connection to any broker
   * @param onFound - learns where the coordinator listens
   */
  constructor(
    connect: () => Promise<Connection>,
    onFound: (found: FoundCoordinator) => void,
    clock: Clock,
    random: Random,
  ) {
    this.#connect = connect
    this.#onFound = onFound
    this.#clock = clock
    this.#random = random
  }

  /** Forgets an answer, because the node named is none any more. */
  forget(kind: CoordinatorKind, id: string): void {
    this.#known.delete(keyOf(kind, id))
  }

  /**
   * Node id of the coordinator; asks until there is one. During the first start of a cluster, and while a coordinator
   * moves, there is none for some time.
   *
   * @throws MillraceError `NOT_AUTHORIZED`; at the deadline the last failure
   */
  async find(kind: CoordinatorKind, id: string, deadline: Deadline): Promise<number> {
    const known = this.#known.get(keyOf(kind, id))
    if (known !== undefined) return known
    const backoff = coordinatorBackoff(this.#random)
    for (;;) {
      const answer = await this.#attempt(kind, id, deadline)
      if (!(answer instanceof MillraceError)) {
        this.#known.set(keyOf(kind, id), answer.nodeId)
        this.#onFound(answer)
        return answer.nodeId
      }
      const delayMs = backoff.next()
      if (answer.reaction === 'stop' || deadline.remainingMs <= delayMs) throw answer
      await sleep(this.#clock, delayMs)
    }
  }

  async #attempt(kind: CoordinatorKind, id: string, deadline: Deadline): Promise<FoundCoordinator | MillraceError> {
    try {
      const connection = await deadline.bound('No broker could be reached', this.#connect())
      return await ask(connection, kind, id, Math.max(1, deadline.remainingMs))
    } catch (error) {
      if (error instanceof MillraceError) return error
      throw error
    }
  }
}

async function ask(
  connection: Connection,
  kind: CoordinatorKind,
  id: string,
  remainingMs: number,
): Promise<FoundCoordinator | MillraceError> {
  const version = connection.apiVersions.best('FindCoordinator')
  const batched = version !== undefined && version >= BATCHED_VERSION
  const response = await connection.send(
    'FindCoordinator',
    { keyType: KEY_TYPES[kind], ...(batched ? { coordinatorKeys: [id] } : { key: id }) },
    { timeoutMs: Math.min(remainingMs, ATTEMPT_TIMEOUT_MS) },
  )
  const answer = batched ? response.coordinators.find(({ key }) => key === id) : response
  if (answer === undefined) {
    return new MillraceError('PROTOCOL_VIOLATION', { what: `FindCoordinator did not answer for ${kind} ${id}.` })
  }
  return answer.errorCode === 0 ? answer : failureOf(answer.errorCode, kind, id)
}

/** A look-up is answered at once; one that is not has met a dead broker, and another one can answer it. */
const ATTEMPT_TIMEOUT_MS = 5_000

function failureOf(kafkaCode: number, kind: CoordinatorKind, id: string): MillraceError {
  const resource = kind === 'group' ? `group ${id}` : `transactional id ${id}`
  if (AUTHORIZATION_FAILURES.has(kafkaCode)) {
    return new MillraceError('NOT_AUTHORIZED', {
      kafkaCode,
      what: `The principal may not use the ${resource} (${kafkaErrorName(kafkaCode)}).`,
      action: kind === 'group' ? `Grant Read on the ${resource}.` : `Grant Write on the ${resource}.`,
    })
  }
  const passes =
    kafkaCode === ERROR_CODE.COORDINATOR_LOAD_IN_PROGRESS || kafkaCode === ERROR_CODE.COORDINATOR_NOT_AVAILABLE
  return new MillraceError('KAFKA_ERROR', {
    kafkaCode,
    what: `The coordinator of the ${resource} was not found: ${kafkaErrorName(kafkaCode)}.`,
    reaction: passes ? 'retry' : 'refence',
  })
}

function keyOf(kind: CoordinatorKind, id: string): string {
  return `${kind} ${id}`
}
