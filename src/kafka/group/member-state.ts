import { assert } from '../../model/assert.ts'

/**
 * What a group member is doing.
 *
 * `unjoined`: not in the group. `joining`: JoinGroup is out, perhaps parked at the broker. `syncing`: the generation has
 * changed, the assignment is not there yet. `stable`: assigned. `rebalanceNeeded`: the group waits for our JoinGroup.
 * `lost`: the group gave the member up and the loop has not heard of it yet. `replaced`: another process has the instance
 * id. `failed`: the group cannot be joined. `leaving`, `closed`: at the end.
 */
export type MemberState =
  | 'unjoined'
  | 'joining'
  | 'syncing'
  | 'stable'
  | 'rebalanceNeeded'
  | 'lost'
  | 'replaced'
  | 'failed'
  | 'leaving'
  | 'closed'

/** What happens to a group member: by the loop (`…Requested`, `lossTaken`), by an answer, or by time. */
export type MemberEvent =
  | 'joinRequested'
  | 'joinAnswered'
  | 'syncAnswered'
  | 'rebalanceAnswered'
  | 'membershipLost'
  | 'lossTaken'
  | 'instanceTaken'
  | 'refused'
  | 'leaveRequested'
  | 'closeRequested'

/**
 * A join is asked for and not sent in `joining` and `syncing` (one is outstanding), in `lost` (the caller does not know
 * yet, so what it claims to own is void) and at the end: there the state stays. Answers of an earlier attempt are
 * dropped before they get here, which is why most cells of the ends are illegal.
 */
const NEXT: Record<MemberState, Record<MemberEvent, MemberState | 'illegal'>> = {
  unjoined: {
    joinRequested: 'joining',
    joinAnswered: 'illegal',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'illegal',
    membershipLost: 'illegal',
    lossTaken: 'illegal',
    instanceTaken: 'illegal',
    refused: 'illegal',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  joining: {
    joinRequested: 'joining',
    joinAnswered: 'syncing',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'illegal',
    membershipLost: 'lost',
    lossTaken: 'illegal',
    instanceTaken: 'replaced',
    refused: 'failed',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  syncing: {
    joinRequested: 'syncing',
    joinAnswered: 'illegal',
    syncAnswered: 'stable',
    rebalanceAnswered: 'rebalanceNeeded',
    membershipLost: 'lost',
    lossTaken: 'illegal',
    instanceTaken: 'replaced',
    refused: 'failed',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  stable: {
    joinRequested: 'joining',
    joinAnswered: 'illegal',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'rebalanceNeeded',
    membershipLost: 'lost',
    lossTaken: 'illegal',
    instanceTaken: 'replaced',
    refused: 'failed',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  rebalanceNeeded: {
    joinRequested: 'joining',
    joinAnswered: 'illegal',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'rebalanceNeeded',
    membershipLost: 'lost',
    lossTaken: 'illegal',
    instanceTaken: 'replaced',
    refused: 'failed',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  lost: {
    joinRequested: 'lost',
    joinAnswered: 'illegal',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'illegal',
    membershipLost: 'illegal',
    lossTaken: 'unjoined',
    instanceTaken: 'illegal',
    refused: 'illegal',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  replaced: {
    joinRequested: 'replaced',
    joinAnswered: 'illegal',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'illegal',
    membershipLost: 'illegal',
    lossTaken: 'illegal',
    instanceTaken: 'illegal',
    refused: 'illegal',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  failed: {
    joinRequested: 'failed',
    joinAnswered: 'illegal',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'illegal',
    membershipLost: 'illegal',
    lossTaken: 'illegal',
    instanceTaken: 'illegal',
    refused: 'illegal',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  leaving: {
    joinRequested: 'leaving',
    joinAnswered: 'illegal',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'illegal',
    membershipLost: 'illegal',
    lossTaken: 'illegal',
    instanceTaken: 'illegal',
    refused: 'illegal',
    leaveRequested: 'leaving',
    closeRequested: 'closed',
  },
  closed: {
    joinRequested: 'closed',
    joinAnswered: 'illegal',
    syncAnswered: 'illegal',
    rebalanceAnswered: 'illegal',
    membershipLost: 'illegal',
    lossTaken: 'illegal',
    instanceTaken: 'illegal',
    refused: 'illegal',
    leaveRequested: 'closed',
    closeRequested: 'closed',
  },
}

/**
 * Moves on.
 *
 * @throws InvariantError for a move that the table calls illegal: a fault here, never a condition of Kafka
 */
export function nextMemberState(state: MemberState, event: MemberEvent): MemberState {
  const next = NEXT[state][event]
  assert(next !== 'illegal', 'group member state', { state, event })
  return next
}

/** Whether the group counts on this member's heartbeats: it has an answered JoinGroup and none parked. */
export function needsHeartbeats(state: MemberState): boolean {
  return state === 'syncing' || state === 'stable' || state === 'rebalanceNeeded'
}

/** Whether the broker may still count this member in, so that a stop has something to leave. */
export function mayBeMember(state: MemberState): boolean {
  return state !== 'unjoined' && state !== 'replaced' && state !== 'leaving' && state !== 'closed'
}
