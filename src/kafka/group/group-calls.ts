import type { Cluster } from '../cluster/cluster.ts'
import type { GroupMembership } from '../group-membership.ts'
import { encodeAssignment, encodeSubscription } from '../protocol/consumer-protocol.ts'
import type { ResponseBodies } from '../protocol/api.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import type { GroupAssignment, JoinInput } from './group-event.ts'

/** What a member's requests say about it. */
export interface GroupCallsOptions {
  readonly cluster: Pick<Cluster, 'coordinatorCall'>
  readonly groupId: string
  readonly groupInstanceId: string | null
  readonly protocolName: string
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
}

/** The only protocol type whose members share partitions out among themselves. */
const PROTOCOL_TYPE = 'consumer'

/** Asked for generations that a member may be without. */
const NO_GENERATION = -1

/**
 * The requests of a classic group member, one method each. JoinGroup and SyncGroup are parked at the broker and have a
 * connection of their own; heartbeats must not queue behind them.
 *
 * Coordinators that moved, load or went away are retried within the deadline; every other code is the caller's.
 * All of these may be sent twice: the broker answers a repeated one as it answered the first.
 */
export class GroupCalls {
  readonly #options: GroupCallsOptions

  constructor(options: GroupCallsOptions) {
    this.#options = options
  }

  join(
    memberId: string,
    input: JoinInput,
    ownedInGeneration: number | undefined,
    timeoutMs: number,
  ): Promise<ResponseBodies['JoinGroup']> {
    const { cluster, groupId, groupInstanceId, protocolName, sessionTimeoutMs, rebalanceTimeoutMs } = this.#options
    const metadata = encodeSubscription({
      topics: [...input.topics],
      userData: input.userData,
      ownedPartitions: [...input.owned],
      generationId: ownedInGeneration ?? NO_GENERATION,
      rackId: null,
    })
    return cluster.coordinatorCall(
      'group',
      groupId,
      'JoinGroup',
      {
        groupId,
        sessionTimeoutMs,
        rebalanceTimeoutMs,
        memberId,
        groupInstanceId,
        protocolType: PROTOCOL_TYPE,
        protocols: [{ name: protocolName, metadata }],
      },
      this.#parked(timeoutMs),
    )
  }

  /** @param assignments - of the whole group from its leader, empty from everybody else */
  sync(
    membership: GroupMembership,
    assignments: ReadonlyMap<string, GroupAssignment>,
    timeoutMs: number,
  ): Promise<ResponseBodies['SyncGroup']> {
    const { cluster, groupId, protocolName } = this.#options
    return cluster.coordinatorCall(
      'group',
      groupId,
      'SyncGroup',
      {
        groupId,
        generationId: membership.generationId,
        memberId: membership.memberId,
        groupInstanceId: membership.groupInstanceId,
        protocolType: PROTOCOL_TYPE,
        protocolName,
        assignments: [...assignments].map(([memberId, { partitions, userData }]) => ({
          memberId,
          assignment: encodeAssignment({ partitions: copyOf(partitions), userData }),
        })),
      },
      this.#parked(timeoutMs),
    )
  }

  /**
   * How a parked call waits. A broker that vanishes without closing its connection would keep it waiting for the whole
   * rebalance timeout; so it is sent again after each half of the session timeout, which the group takes as the same
   * request. Not later: when the answer to JoinGroup was lost, the group counts the session from that answer on, the
   * repeated request does not prolong it, and what is left of it must do for SyncGroup or the first heartbeat.
   */
  #parked(timeoutMs: number): ParkedCall {
    return {
      purpose: 'join',
      timeoutMs,
      attemptTimeoutMs: this.#options.sessionTimeoutMs / 2,
      retryLost: true,
      errorCodesOf: answer => [answer.errorCode],
    }
  }

  /** @returns the answer's error code */
  async heartbeat(membership: GroupMembership, timeoutMs: number): Promise<number> {
    const { cluster, groupId } = this.#options
    const { generationId, memberId, groupInstanceId } = membership
    const answer = await cluster.coordinatorCall(
      'group',
      groupId,
      'Heartbeat',
      { groupId, generationId, memberId, groupInstanceId },
      { purpose: 'coordinator', timeoutMs, retryLost: true, errorCodesOf: body => [body.errorCode] },
    )
    return answer.errorCode
  }

  /** @returns the answer's error code, the member's where it has one */
  async leave(memberId: string, reason: string, timeoutMs: number): Promise<number> {
    const { cluster, groupId, groupInstanceId } = this.#options
    const answer = await cluster.coordinatorCall(
      'group',
      groupId,
      'LeaveGroup',
      { groupId, members: [{ memberId, groupInstanceId, reason }] },
      { purpose: 'coordinator', timeoutMs, retryLost: true, errorCodesOf: body => [body.errorCode] },
    )
    return answer.errorCode === 0 ? (answer.members[0]?.errorCode ?? 0) : answer.errorCode
  }
}

interface ParkedCall {
  readonly purpose: 'join'
  readonly timeoutMs: number
  readonly attemptTimeoutMs: number
  readonly retryLost: true
  readonly errorCodesOf: (answer: { readonly errorCode: number }) => readonly number[]
}

function copyOf(partitions: readonly TopicPartition[]): TopicPartition[] {
  return [...partitions]
}
