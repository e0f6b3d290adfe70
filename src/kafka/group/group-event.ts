import type { MillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import type { GroupMembership } from '../group-membership.ts'
import type { Subscription } from '../protocol/consumer-protocol.ts'

/** What the group tells a member; the thread's loop takes these between transactions. */
export type GroupEvent =
  /** The group rebalances: commit, then `join` with everything owned. */
  | { readonly type: 'rebalanceNeeded' }
  /** JoinGroup was answered: the generation has changed; until `assigned` only partitions claimed in it are committed. */
  | {
      readonly type: 'joined'
      readonly membership: GroupMembership
      /** The leader came back and the group keeps its assignment (KIP-814). */
      readonly skipAssignment: boolean
      readonly isLeader: boolean
    }
  /** SyncGroup was answered. What is owned and missing here is to be given up, then joined again for. */
  | {
      readonly type: 'assigned'
      readonly membership: GroupMembership
      readonly partitions: readonly TopicPartition[]
      readonly userData: Buffer | null
    }
  /** No longer a member: abort, drop all tasks, `join` with nothing owned. */
  | { readonly type: 'lost'; readonly error: MillraceError }
  /** Another process took the instance id: discard everything, stop, never rejoin. */
  | { readonly type: 'replaced'; readonly error: MillraceError }
  /** The group cannot be joined at all: stop. */
  | { readonly type: 'failed'; readonly error: MillraceError }

/** What the leader assigns from. */
export interface AssignmentRound {
  readonly generationId: number
  readonly leaderMemberId: string
  readonly members: readonly {
    readonly memberId: string
    readonly groupInstanceId: string | null
    readonly subscription: Subscription
  }[]
}

/** One member's share. */
export interface GroupAssignment {
  readonly partitions: readonly TopicPartition[]
  readonly userData: Buffer | null
}

/** What a member joins with. */
export interface JoinInput {
  readonly topics: readonly string[]
  /** Everything still owned; nothing after a loss. */
  readonly owned: readonly TopicPartition[]
  /** Bytes for the leader; after a static restart only other bytes than before start a rebalance. */
  readonly userData: Buffer | null
}
