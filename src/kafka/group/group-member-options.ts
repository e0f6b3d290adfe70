import type { Clock, Random } from '../../model/clock.ts'
import type { Logger } from '../../model/logger.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { AssignmentRound, GroupAssignment } from './group-event.ts'

/** What a member is and whom it asks. */
export interface GroupMemberOptions {
  readonly cluster: Pick<Cluster, 'coordinatorCall'>
  readonly clock: Clock
  readonly logger: Logger
  readonly random: Random
  readonly groupId: string
  /** `group.instance.id` (KIP-345); `null` for a dynamic member. */
  readonly groupInstanceId: string | null
  /** `session.timeout.ms`. */
  readonly sessionTimeoutMs: number
  /** How long the group waits for a member to rejoin: `max.poll.interval.ms` in Kafka's clients. */
  readonly rebalanceTimeoutMs: number
  /** `heartbeat.interval.ms`; a third of the session timeout at most. */
  readonly heartbeatIntervalMs: number
  /** The first heartbeat after an assignment comes after that time, the next ones after twice as long each, up to the interval. */
  readonly firstHeartbeatMs: number
  /** `max.poll.interval.ms`. */
  readonly maxPollIntervalMs: number
  /** Name of the assignment protocol; all members of a group speak the same. */
  readonly protocolName: string
  /** Called on the leader: shares the partitions out. Members without an entry get nothing. */
  readonly assign: (round: AssignmentRound) => Promise<ReadonlyMap<string, GroupAssignment>>
  /** Called when an event is there to be taken. */
  readonly onWake: () => void
}
