import { assert } from '../../model/assert.ts'
import { sleep } from '../../model/clock.ts'
import { asMillraceError, MillraceError } from '../../model/errors.ts'
import type { GroupMembership } from '../group-membership.ts'
import type { ResponseBodies } from '../protocol/api.ts'
import { decodeAssignment } from '../protocol/consumer-protocol.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import { GroupCalls } from './group-calls.ts'
import { asLoss, groupError, membershipEnd } from './group-errors.ts'
import type { GroupEvent, JoinInput } from './group-event.ts'
import { assignmentsOf, isLeader, NOTHING_ASSIGNED, requestJoin } from './join-round.ts'
import type { GroupMemberOptions } from './group-member-options.ts'
import { HeartbeatTimer } from './heartbeat-timer.ts'
import { MemberLiveness } from './member-liveness.ts'
import { mayBeMember, needsHeartbeats, nextMemberState, type MemberEvent, type MemberState } from './member-state.ts'

export type { AssignmentRound, GroupAssignment, GroupEvent, JoinInput } from './group-event.ts'
export type { GroupMemberOptions } from './group-member-options.ts'
export type { MemberState } from './member-state.ts'

/** A loss, a replacement or a failure clears the queue, and a round adds three events at most. */
const EVENTS_MAX = 8

/** A parked JoinGroup is answered when the rebalance ends; the broker may be a little late. */
const JOIN_ALLOWANCE_MS = 5_000

const BACK_OFF_FIRST_MS = 100
const BACK_OFF_MAX_MS = 5_000

/** Leaving after `max.poll.interval.ms` is a courtesy to the others; the session timeout does it too. */
const LEAVE_TIMEOUT_MS = 5_000

/**
 * A member of a classic consumer group (KIP-429 cooperative, KIP-345 static). Kafka: `ConsumerCoordinator`.
 *
 * It keeps the membership alive and finds out what the group wants, but never acts on it: joining and giving up
 * partitions belong to the thread's loop, which takes the events between transactions and calls `join`. Only
 * `membership` changes on its own, in the moment of the JoinGroup answer: from then on the broker refuses the old
 * generation.
 */
export class GroupMember {
  readonly #options: GroupMemberOptions
  readonly #calls: GroupCalls
  readonly #liveness: MemberLiveness
  readonly #heartbeats: HeartbeatTimer
  readonly #events: GroupEvent[] = []
  #state: MemberState = 'unjoined'
  #membership: GroupMembership | undefined
  /** Generation of the last assignment that was taken: the one that what is owned was given in (KIP-792). */
  #ownedInGeneration: number | undefined
  /** The id the broker last knew us by; kept over a loss that the broker may not have noticed. */
  #memberId = ''
  /** Counts joins and their ends: whatever arrives for an earlier one is dropped. */
  #attempt = 0
  #failuresInRow = 0
  /** Whose heartbeat is on its way; one of an earlier membership does not hold up this one's. */
  #heartbeatOutFor: GroupMembership | undefined

  constructor(options: GroupMemberOptions) {
    this.#options = options
    this.#calls = new GroupCalls(options)
    this.#liveness = new MemberLiveness(options.clock, options.sessionTimeoutMs, options.maxPollIntervalMs)
    this.#heartbeats = new HeartbeatTimer({
      clock: options.clock,
      intervalMs: Math.min(options.heartbeatIntervalMs, options.sessionTimeoutMs / 3),
      firstMs: options.firstHeartbeatMs,
      beat: () => this.#tick(),
    })
  }

  get state(): MemberState {
    return this.#state
  }

  /** As of the last JoinGroup answer; `undefined` before the first one and from a loss to the next. */
  get membership(): GroupMembership | undefined {
    return this.#membership
  }

  /** Whether a round of ours is under way: JoinGroup on its way or parked, or answered and SyncGroup not yet. */
  get joinOutstanding(): boolean {
    return this.#state === 'joining' || this.#state === 'syncing'
  }

  /**
   * Starts to join, or to join again, in the background: `joined` follows, then `assigned`. Does nothing while a join is
   * outstanding, after a loss that has not been taken from `nextEvent`, and at the end.
   */
  join(input: JoinInput): void {
    const before = this.#state
    this.#move('joinRequested')
    if (before === this.#state) return
    assert(input.owned.length === 0 || this.#membership !== undefined, 'I5 fencing', { owned: input.owned.length })
    this.#attempt += 1
    this.#liveness.polled()
    this.#heartbeats.start()
    void this.#runJoin(this.#attempt, input)
  }

  /** The next thing the group told; taking a loss makes the member free to join again. */
  nextEvent(): GroupEvent | undefined {
    const event = this.#events.shift()
    if (event?.type === 'lost') this.#move('lossTaken')
    if (event?.type === 'assigned') this.#ownedInGeneration = event.membership.generationId
    return event
  }

  /** The loop came round; to be called each turn. Too late a turn is a loss (`max.poll.interval.ms`). */
  polled(): void {
    if (needsHeartbeats(this.#state) && this.#liveness.pollExpired) this.#pollExpired()
    this.#liveness.polled()
  }

  /**
   * Asks the group at once whether this member is still in it.
   *
   * @returns Kafka's error code: 0 and 27 yes, 22 and 25 no, 82 another process took the place
   * @throws MillraceError when the coordinator does not answer
   */
  async heartbeatNow(): Promise<number> {
    const membership = this.#membership
    if (membership === undefined) {
      return this.#state === 'replaced' ? ERROR_CODE.FENCED_INSTANCE_ID : ERROR_CODE.UNKNOWN_MEMBER_ID
    }
    const sentAtMs = this.#options.clock.nowMs()
    const code = await this.#calls.heartbeat(membership, this.#heartbeatTimeoutMs)
    this.#heartbeatAnswered(membership, sentAtMs, code)
    return code
  }

  /**
   * Leaves the group, so that the others need not wait for the session to end. Never fails: where the broker does not
   * answer in time the session timeout does the rest.
   */
  async leave(timeoutMs: number): Promise<void> {
    const { logger, groupId, groupInstanceId } = this.#options
    const wasMember = mayBeMember(this.#state) && (this.#memberId !== '' || groupInstanceId !== null)
    this.#end('leaveRequested')
    if (wasMember) {
      try {
        const code = await this.#calls.leave(this.#memberId, 'the application stops', timeoutMs)
        logger.debug({ groupId, code }, 'left the group')
      } catch (thrown) {
        logger.warn({ groupId, err: thrown }, 'could not leave the group; its session timeout will end the membership')
      }
    }
    this.close()
  }

  /** Stops without a word: the group keeps the place until the session ends, or a static member comes back. */
  close(): void {
    this.#end('closeRequested')
  }

  get #heartbeatTimeoutMs(): number {
    return this.#options.sessionTimeoutMs / 2
  }

  // ---- joining

  async #runJoin(attempt: number, input: JoinInput): Promise<void> {
    try {
      await this.#backOff()
      const joined = await this.#joinGroup(attempt, input)
      if (joined === undefined) return
      const membership = this.#joined(joined)
      const assignments = await assignmentsOf(joined, this.#options.assign)
      if (attempt !== this.#attempt) return
      const synced = await this.#calls.sync(membership, assignments, this.#joinTimeoutMs)
      if (attempt === this.#attempt) this.#synced(membership, synced)
    } catch (thrown) {
      if (attempt === this.#attempt) this.#joinFailed(asMillraceError(thrown))
    }
  }

  /** `undefined` when something else ended the attempt meanwhile. */
  #joinGroup(attempt: number, input: JoinInput): Promise<ResponseBodies['JoinGroup'] | undefined> {
    const { clock, groupId, groupInstanceId } = this.#options
    return requestJoin(this.#calls, {
      groupId,
      groupInstanceId,
      clock,
      timeoutMs: this.#joinTimeoutMs,
      memberId: this.#memberId,
      isMember: this.#membership !== undefined,
      ownedInGeneration: this.#ownedInGeneration,
      input,
      isCurrent: () => attempt === this.#attempt,
      onMemberId: memberId => {
        this.#memberId = memberId
      },
    })
  }

  /** The generation flips here: the broker refuses the old one from the moment it answered. */
  #joined(answer: ResponseBodies['JoinGroup']): GroupMembership {
    const { clock, groupInstanceId } = this.#options
    const membership = { generationId: answer.generationId, memberId: answer.memberId, groupInstanceId }
    this.#memberId = answer.memberId
    this.#membership = membership
    this.#liveness.heard(clock.nowMs())
    this.#move('joinAnswered')
    this.#push({
      type: 'joined',
      membership,
      skipAssignment: answer.skipAssignment,
      isLeader: isLeader(answer),
    })
    return membership
  }

  #synced(membership: GroupMembership, answer: ResponseBodies['SyncGroup']): void {
    if (answer.errorCode === ERROR_CODE.REBALANCE_IN_PROGRESS) {
      this.#rebalanceNeeded()
      return
    }
    if (answer.errorCode !== ERROR_CODE.NONE) throw this.#refusal('SyncGroup', answer.errorCode)
    const { partitions, userData } =
      answer.assignment.length === 0 ? NOTHING_ASSIGNED : decodeAssignment(answer.assignment)
    this.#failuresInRow = 0
    this.#move('syncAnswered')
    this.#heartbeats.soon()
    this.#push({ type: 'assigned', membership, partitions, userData })
  }

  #joinFailed(error: MillraceError): void {
    this.#failuresInRow += 1
    const { groupId, logger } = this.#options
    const isLeadersTrouble = this.#state === 'syncing' && !LOSSES.has(error.code) && error.reaction !== 'stop'
    if (isLeadersTrouble) {
      // The assignment could not be made, or not delivered: the membership stands, so another round is enough.
      logger.warn({ groupId, err: error }, 'the assignment failed; the group is asked for another round')
      this.#rebalanceNeeded()
    } else {
      this.#ended(error)
    }
  }

  /** After failures only: the loop joins again at once, and the broker needs time. */
  async #backOff(): Promise<void> {
    if (this.#failuresInRow === 0) return
    const { clock, random } = this.#options
    const delayMs = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** (this.#failuresInRow - 1))
    await sleep(clock, delayMs * (0.8 + 0.4 * random()))
  }

  get #joinTimeoutMs(): number {
    return this.#options.rebalanceTimeoutMs + JOIN_ALLOWANCE_MS
  }

  // ---- staying alive

  #tick(): void {
    if (!needsHeartbeats(this.#state)) return
    if (this.#liveness.pollExpired) {
      this.#pollExpired()
    } else if (this.#liveness.sessionExpired) {
      this.#ended(
        new MillraceError('MEMBERSHIP_LOST', {
          what: `Group ${JSON.stringify(this.#options.groupId)} answered no heartbeat within session.timeout.ms (${String(this.#options.sessionTimeoutMs)}).`,
        }),
      )
    } else {
      void this.#heartbeat()
    }
  }

  async #heartbeat(): Promise<void> {
    const membership = this.#membership
    if (membership === undefined || membership === this.#heartbeatOutFor) return
    this.#heartbeatOutFor = membership
    const sentAtMs = this.#options.clock.nowMs()
    try {
      const code = await this.#calls.heartbeat(membership, this.#heartbeatTimeoutMs)
      this.#heartbeatAnswered(membership, sentAtMs, code)
    } catch (thrown) {
      if (membership === this.#membership) this.#heartbeatRefused(asMillraceError(thrown))
    } finally {
      if (this.#heartbeatOutFor === membership) this.#heartbeatOutFor = undefined
    }
  }

  #heartbeatAnswered(membership: GroupMembership, sentAtMs: number, code: number): void {
    // Sent in an earlier generation or life: the answer says nothing about this one.
    if (membership !== this.#membership) return
    switch (code) {
      case ERROR_CODE.NONE:
        this.#liveness.heard(sentAtMs)
        return
      case ERROR_CODE.REBALANCE_IN_PROGRESS:
        this.#liveness.heard(sentAtMs)
        if (this.#state === 'stable') this.#rebalanceNeeded()
        return
      case ERROR_CODE.ILLEGAL_GENERATION:
      case ERROR_CODE.UNKNOWN_MEMBER_ID:
        // The answer to our JoinGroup is under way and decides.
        if (this.#state === 'joining') return
        break
      default:
    }
    this.#heartbeatRefused(this.#refusal('Heartbeat', code))
  }

  /** A coordinator that moves or loads clears by itself, or the session ends. */
  #heartbeatRefused(error: MillraceError): void {
    if (error.code === 'MEMBERSHIP_LOST' || membershipEnd(error) !== 'membershipLost') {
      this.#ended(error)
    } else {
      this.#options.logger.debug({ groupId: this.#options.groupId, err: error }, 'a heartbeat was not accepted')
    }
  }

  #refusal(call: 'SyncGroup' | 'Heartbeat', code: number): MillraceError {
    const { groupId, groupInstanceId } = this.#options
    return groupError(code, { call, groupId, groupInstanceId })
  }

  /** A dynamic member leaves, as Kafka's client does; a static one falls silent and keeps its place for the session. */
  #pollExpired(): void {
    const { groupId, groupInstanceId, logger, maxPollIntervalMs } = this.#options
    const memberId = this.#memberId
    this.#ended(
      new MillraceError('MAX_POLL_INTERVAL_EXCEEDED', {
        what: `Processing did not come back within max.poll.interval.ms (${String(maxPollIntervalMs)}), so the member gave up its place in group ${JSON.stringify(groupId)}.`,
      }),
    )
    if (groupInstanceId !== null) return
    this.#memberId = ''
    this.#calls.leave(memberId, 'max.poll.interval.ms exceeded', LEAVE_TIMEOUT_MS).catch((thrown: unknown) => {
      logger.debug({ groupId, err: thrown }, 'could not leave the group')
    })
  }

  // ---- telling

  #rebalanceNeeded(): void {
    this.#attempt += 1
    this.#move('rebalanceAnswered')
    this.#push({ type: 'rebalanceNeeded' })
  }

  /** The membership ends: what was not taken yet is void, and so is every answer still to come. */
  #ended(error: MillraceError): void {
    const end = membershipEnd(error)
    this.#attempt += 1
    this.#membership = undefined
    this.#ownedInGeneration = undefined
    this.#events.length = 0
    if (error.details.kafkaCode === ERROR_CODE.UNKNOWN_MEMBER_ID) this.#memberId = ''
    this.#move(end)
    switch (end) {
      case 'membershipLost':
        this.#push({ type: 'lost', error: asLoss(error) })
        return
      case 'instanceTaken':
        this.#heartbeats.stop()
        this.#push({ type: 'replaced', error })
        return
      case 'refused':
        this.#heartbeats.stop()
        this.#push({ type: 'failed', error })
    }
  }

  #end(event: 'leaveRequested' | 'closeRequested'): void {
    this.#attempt += 1
    this.#heartbeats.stop()
    this.#membership = undefined
    this.#events.length = 0
    this.#move(event)
  }

  #push(event: GroupEvent): void {
    assert(this.#events.length < EVENTS_MAX, 'group events are taken', { state: this.#state })
    this.#events.push(event)
    this.#options.logger.debug(
      { groupId: this.#options.groupId, event: event.type, ...this.#membership },
      'group event',
    )
    this.#options.onWake()
  }

  #move(event: MemberEvent): void {
    this.#state = nextMemberState(this.#state, event)
  }
}

/** The errors that say that the membership is over. */
const LOSSES: ReadonlySet<string> = new Set(['MEMBERSHIP_LOST', 'INSTANCE_ID_IN_USE'])
