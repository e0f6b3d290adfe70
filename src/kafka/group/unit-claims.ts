import { TopicPartitionMap, type TopicPartition } from '../../model/topic-partition.ts'

/** A set of partitions that one member must process together: a task. */
export interface AssignableUnit {
  /** `<subtopology>_<n>`. */
  readonly id: string
  readonly partitions: readonly TopicPartition[]
  /** Subtopology; units are balanced per group first, then overall. */
  readonly group: number
}

/** What the assignor knows of a member: its subscription's claims and how much it can carry. */
export interface AssignableMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  /** Partitions the member still has, as its JoinGroup said. */
  readonly owned: readonly TopicPartition[]
  /** Generation in which it got them; −1 for none. */
  readonly generationId: number
  /** Threads the member runs, at least 1. */
  readonly capacity: number
}

/** Who may get a unit in this round, as an index into the members. */
export type UnitClaim = 'free' | 'contested' | number

interface PartitionClaim {
  member: number
  generationId: number
  tied: boolean
}

/**
 * For each unit who claims it: nobody (`free`), one member (its index), or several (`contested`: nobody gets it in this
 * round, its claimants give it up first).
 *
 * A partition claimed twice belongs to the claim of the higher generation (KIP-792): the other one comes from a member
 * that missed a rebalance. Twice in the same generation cannot be decided, so neither keeps it.
 */
export function claimsOf(members: readonly AssignableMember[], units: readonly AssignableUnit[]): readonly UnitClaim[] {
  const claims = new TopicPartitionMap<PartitionClaim>()
  members.forEach((member, index) => {
    for (const topicPartition of member.owned) addClaim(claims, topicPartition, index, member.generationId)
  })
  return units.map(unit => unitClaim(unit, claims))
}

function addClaim(
  claims: TopicPartitionMap<PartitionClaim>,
  topicPartition: TopicPartition,
  member: number,
  generationId: number,
): void {
  const claim = claims.get(topicPartition)
  if (claim === undefined || generationId > claim.generationId) {
    claims.set(topicPartition, { member, generationId, tied: false })
  } else if (generationId === claim.generationId && claim.member !== member) {
    claim.tied = true
  }
}

function unitClaim(unit: AssignableUnit, claims: TopicPartitionMap<PartitionClaim>): UnitClaim {
  let owner: UnitClaim = 'free'
  for (const topicPartition of unit.partitions) {
    const claim = claims.get(topicPartition)
    if (claim === undefined) continue
    if (claim.tied || (owner !== 'free' && owner !== claim.member)) return 'contested'
    owner = claim.member
  }
  return owner
}
