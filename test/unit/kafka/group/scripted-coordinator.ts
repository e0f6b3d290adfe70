import type { MillraceError } from '../../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../../src/model/logger.ts'
import {
  GroupMember,
  type GroupEvent,
  type GroupMemberOptions,
  type JoinInput,
} from '../../../../src/kafka/group/group-member.ts'
import type { ApiName, RequestBodies, ResponseBodies } from '../../../../src/kafka/protocol/api.ts'
import { encodeAssignment } from '../../../../src/kafka/protocol/consumer-protocol.ts'
import { ManualClock, settle } from '../../../support/manual-clock.ts'

/** Time that can pass while nothing runs, as when the event loop is blocked: timers are late. */
export class BlockableClock extends ManualClock {
  #blockedMs = 0

  override nowMs(): number {
    return super.nowMs() + this.#blockedMs
  }

  block(ms: number): void {
    this.#blockedMs += ms
  }
}

/** A request that waits for its answer. */
export interface Call {
  readonly api: ApiName
  readonly body: Readonly<Record<string, unknown>>
  readonly timeoutMs: number
  /** After which an unanswered request is sent again; `undefined` where the call does not say. */
  readonly attemptTimeoutMs: number | undefined
  answer(body: object): Promise<void>
  fail(error: MillraceError): Promise<void>
}

/** A coordinator whose every answer the test gives: for the orders of events that a real one rarely shows. */
export class ScriptedCoordinator {
  readonly calls: Call[] = []
  /** Requests so far, by name. */
  readonly sent: ApiName[] = []

  coordinatorCall<A extends ApiName>(
    _kind: 'group' | 'transaction',
    _id: string,
    api: A,
    body: RequestBodies[A],
    { timeoutMs, attemptTimeoutMs }: { readonly timeoutMs: number; readonly attemptTimeoutMs?: number },
  ): Promise<ResponseBodies[A]> {
    this.sent.push(api)
    return new Promise((resolve, reject) => {
      const done = async (): Promise<void> => {
        this.calls.splice(this.calls.indexOf(call), 1)
        await settle()
      }
      const call: Call = {
        api,
        body: { ...body },
        timeoutMs,
        attemptTimeoutMs,
        answer: given => {
          resolve(given as ResponseBodies[A])
          return done()
        },
        fail: error => {
          reject(error)
          return done()
        },
      }
      this.calls.push(call)
    })
  }

  /** The oldest unanswered request of a kind. */
  waiting(api: ApiName): Call {
    const call = this.calls.find(one => one.api === api)
    if (call === undefined) throw new Error(`no ${api} waits; sent ${this.sent.join(' ')}`)
    return call
  }
}

/** What answers to JoinGroup have beside what the test is about. */
export function joinAnswer(given: Partial<ResponseBodies['JoinGroup']>): ResponseBodies['JoinGroup'] {
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    generationId: 1,
    protocolType: 'consumer',
    protocolName: 'test',
    leader: 'somebody',
    skipAssignment: false,
    memberId: 'me',
    members: [],
    ...given,
  }
}

export function syncAnswer(given: Partial<ResponseBodies['SyncGroup']> = {}): ResponseBodies['SyncGroup'] {
  const assignment = encodeAssignment({ partitions: [{ topic: 'input', partition: 0 }], userData: null })
  return { throttleTimeMs: 0, errorCode: 0, protocolType: 'consumer', protocolName: 'test', assignment, ...given }
}

export function heartbeatAnswer(errorCode: number): ResponseBodies['Heartbeat'] {
  return { throttleTimeMs: 0, errorCode }
}

/** A member with a scripted coordinator and a clock of the test's. */
export class MemberBench {
  readonly clock = new BlockableClock()
  readonly coordinator = new ScriptedCoordinator()
  readonly member: GroupMember
  wakes = 0

  constructor(options: Partial<GroupMemberOptions> = {}) {
    this.member = new GroupMember({
      cluster: this.coordinator,
      clock: this.clock,
      logger: SILENT_LOGGER,
      random: () => 0.5,
      groupId: 'group',
      groupInstanceId: null,
      sessionTimeoutMs: 9_000,
      rebalanceTimeoutMs: 60_000,
      heartbeatIntervalMs: 3_000,
      firstHeartbeatMs: 3_000,
      maxPollIntervalMs: 60_000,
      protocolName: 'test',
      assign: () => Promise.resolve(new Map()),
      onWake: () => {
        this.wakes += 1
      },
      ...options,
    })
  }

  async join(input: Partial<JoinInput> = {}): Promise<void> {
    this.member.join({ topics: ['input'], owned: [], userData: null, ...input })
    await settle()
  }

  /** Joins up to `stable`, with all events taken. */
  async becomeStable(generationId = 1): Promise<void> {
    await this.join()
    await this.coordinator.waiting('JoinGroup').answer(joinAnswer({ generationId }))
    await this.coordinator.waiting('SyncGroup').answer(syncAnswer())
    this.takeAll()
  }

  takeAll(): readonly GroupEvent['type'][] {
    const types: GroupEvent['type'][] = []
    for (let event = this.member.nextEvent(); event !== undefined; event = this.member.nextEvent())
      types.push(event.type)
    return types
  }
}
