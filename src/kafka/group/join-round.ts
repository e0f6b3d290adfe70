import { sleep, type Clock } from '../../model/clock.ts'
import type { ResponseBodies } from '../protocol/api.ts'
import { decodeSubscription } from '../protocol/consumer-protocol.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import type { GroupCalls } from './group-calls.ts'
import { groupError } from './group-errors.ts'
import type { AssignmentRound, GroupAssignment, JoinInput } from './group-event.ts'

/** One attempt to get a generation. */
export interface JoinRequest {
  readonly groupId: string
  readonly groupInstanceId: string | null
  readonly clock: Clock
  readonly timeoutMs: number
  /** The id the broker last gave us; empty for a new member. */
  readonly memberId: string
  /** Whether the membership behind that id still stands, as far as we know. */
  readonly isMember: boolean
  readonly ownedInGeneration: number | undefined
  readonly input: JoinInput
  /** Whether the answer still matters. */
  readonly isCurrent: () => boolean
  /** Told of each id the broker gives or takes before the answer that counts. */
  readonly onMemberId: (memberId: string) => void
}

/**
 * JoinGroup until it is answered with a generation.
 *
 * @returns `undefined` when the attempt was ended meanwhile
 * @throws MillraceError of the code that the group answered with, or when the deadline passes
 */
export async function requestJoin(
  calls: GroupCalls,
  request: JoinRequest,
): Promise<ResponseBodies['JoinGroup'] | undefined> {
  const { groupId, groupInstanceId, clock, input, isMember, ownedInGeneration } = request
  const refused = { call: 'JoinGroup', groupId, groupInstanceId } as const
  const deadlineMs = clock.nowMs() + request.timeoutMs
  let { memberId } = request
  while (request.isCurrent()) {
    const leftMs = deadlineMs - clock.nowMs()
    if (leftMs <= 0) throw groupError(ERROR_CODE.COORDINATOR_NOT_AVAILABLE, refused)
    const answer = await calls.join(memberId, input, isMember ? ownedInGeneration : undefined, leftMs)
    if (!request.isCurrent()) return undefined
    if (answer.errorCode === ERROR_CODE.NONE) return answer
    if (answer.errorCode === ERROR_CODE.MEMBER_ID_REQUIRED) {
      // A new dynamic member is given its id first (KIP-394), so that a lost answer leaves no ghost in the group.
      memberId = answer.memberId
    } else if (answer.errorCode === ERROR_CODE.UNKNOWN_MEMBER_ID && memberId !== '' && !isMember) {
      // An id kept over a loss, which the group has forgotten meanwhile. Nothing is owned: begin as a new member.
      memberId = ''
    } else if (answer.errorCode === ERROR_CODE.REBALANCE_IN_PROGRESS) {
      // Some brokers say so while they end a round; Kafka's client asks again as well.
      await sleep(clock, REBALANCE_BACK_OFF_MS)
    } else {
      throw groupError(answer.errorCode, refused)
    }
    request.onMemberId(memberId)
  }
  return undefined
}

const REBALANCE_BACK_OFF_MS = 50

/** Whether this member is to compute the assignment, or at least would be. */
export function isLeader(answer: ResponseBodies['JoinGroup']): boolean {
  return answer.leader === answer.memberId
}

/**
 * What this member's SyncGroup carries: every member's share from the leader, nothing from the others, and nothing from
 * a leader that came back to a stable group (KIP-814), where the broker keeps the old assignment.
 */
export async function assignmentsOf(
  answer: ResponseBodies['JoinGroup'],
  assign: (round: AssignmentRound) => Promise<ReadonlyMap<string, GroupAssignment>>,
): Promise<ReadonlyMap<string, GroupAssignment>> {
  if (!isLeader(answer) || answer.skipAssignment) return NO_ASSIGNMENTS
  const assigned = await assign({
    generationId: answer.generationId,
    leaderMemberId: answer.leader,
    members: answer.members.map(({ memberId, groupInstanceId, metadata }) => ({
      memberId,
      groupInstanceId,
      subscription: decodeSubscription(metadata),
    })),
  })
  return new Map(answer.members.map(({ memberId }) => [memberId, assigned.get(memberId) ?? NOTHING_ASSIGNED]))
}

/** The share of a member that the leader gave nothing. */
export const NOTHING_ASSIGNED: GroupAssignment = { partitions: [], userData: null }

const NO_ASSIGNMENTS: ReadonlyMap<string, GroupAssignment> = new Map()
