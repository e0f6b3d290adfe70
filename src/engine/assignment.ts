import { createHash } from 'node:crypto'
import { MillraceError } from '../model/errors.ts'
import { TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import type { AssignmentRound, GroupAssignment } from '../kafka/group/group-member.ts'
import { assignSticky, type AssignableUnit } from '../kafka/group/sticky-assignor.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import { taskId } from './task-registry.ts'

/** Version of both user-data forms; a reader refuses what it does not know. */
const USER_DATA_VERSION = 1

/** What a member tells the leader beside its topics. */
export interface SubscriptionData {
  readonly version: number
  /** Identity of the process, for the logs of the leader. */
  readonly processId: string
  /**
   * Counts the joins of this life from a random start. After a static restart the broker hands out the old assignment
   * unless the subscription's bytes differ (protocol-groups: static membership), so every join has bytes of its own.
   */
  readonly join: number
  /** Set where the whole application is to stop. Kafka Streams: `AssignorError.SHUTDOWN_REQUESTED` in the subscription. */
  readonly shutdown?: boolean
}

/** What the leader tells a member beside its partitions. */
export interface AssignmentData {
  readonly version: number
  /** Fingerprint of the plan the assignment was made from; another one than the member's own asks for a new round. */
  readonly plan: string
  /** Partitions that the member claimed and a member of a later generation owns: abort, do not commit. */
  readonly lost: readonly (readonly [topic: string, partition: number])[]
  /** A member has asked the whole application to stop. */
  readonly shutdown?: boolean
}

/** User data as bytes: JSON, so that a reader can ignore fields of a later version. */
export function encodeUserData(data: SubscriptionData | AssignmentData): Buffer {
  return Buffer.from(JSON.stringify(data))
}

/** Reads the leader's words. @throws MillraceError `STATE_VERSION_UNKNOWN` when a later version of millrace leads the group */
export function decodeAssignmentData(userData: Buffer | null): AssignmentData | undefined {
  if (userData === null || userData.length === 0) return undefined
  const data = jsonOf(userData)
  if (!isAssignmentData(data)) {
    throw new MillraceError('STATE_VERSION_UNKNOWN', {
      what: `The leader of the group speaks version ${versionOf(data)} of the assignment, this process version ${String(USER_DATA_VERSION)}.`,
      action: 'Finish the rolling upgrade: all replicas must run versions of millrace that understand each other.',
    })
  }
  const { version, plan, lost } = data
  return { version, plan, lost, ...(asksForShutdown(data) ? { shutdown: true } : {}) }
}

/** Whether it has the form of this version; fields beyond it are ignored, as long as the version stays. */
function isAssignmentData(data: unknown): data is AssignmentData {
  if (typeof data !== 'object' || data === null) return false
  if (!('version' in data && 'plan' in data && 'lost' in data)) return false
  return data.version === USER_DATA_VERSION && typeof data.plan === 'string' && isPartitionList(data.lost)
}

function isPartitionList(list: unknown): boolean {
  return (
    Array.isArray(list) &&
    list.every(
      entry => Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' && Number.isInteger(entry[1]),
    )
  )
}

function versionOf(data: unknown): string {
  return typeof data === 'object' && data !== null && 'version' in data ? String(data.version) : 'unknown'
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    // Another application's assignor: no version of ours.
    return undefined
  }
}

/** What a member's JoinGroup carries beside its topics. */
export function subscriptionData(processId: string, join: number, shutdown: boolean): Buffer {
  return encodeUserData({ version: USER_DATA_VERSION, processId, join, ...(shutdown ? { shutdown } : {}) })
}

function asksForShutdown(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'shutdown' in data && data.shutdown === true
}

/** The partition counts of the source topics that tasks are numbered by. */
export type PartitionCounts = ReadonlyMap<string, number>

/** Asks the cluster for the partition counts of topics; those that do not exist are absent. */
export async function countPartitions(
  cluster: {
    topics(names: readonly string[]): Promise<ReadonlyMap<string, { readonly partitions: readonly unknown[] }>>
  },
  names: readonly string[],
): Promise<PartitionCounts> {
  return new Map(Array.from(await cluster.topics(names), ([name, { partitions }]) => [name, partitions.length]))
}

/** Changes when the source topics or their partition counts change. */
export function planFingerprint(plan: ApplicationPlan, counts: PartitionCounts): string {
  const lines = plan.subtopologies.flatMap(({ id, sources }) =>
    sources.flatMap(source => source.topics.map(topic => `${String(id)} ${topic} ${String(counts.get(topic) ?? 0)}`)),
  )
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex').slice(0, 16)
}

/** One unit per task: the partitions that must be read together. */
export function unitsOf(plan: ApplicationPlan, counts: PartitionCounts): readonly AssignableUnit[] {
  return plan.subtopologies.flatMap(({ id, sources }) => {
    const topics = sources.flatMap(source => source.topics)
    const tasks = Math.max(0, ...topics.map(topic => counts.get(topic) ?? 0))
    return Array.from({ length: tasks }, (_, partition) => ({
      id: taskId(id, partition),
      group: id,
      partitions: topics.filter(topic => partition < (counts.get(topic) ?? 0)).map(topic => ({ topic, partition })),
    }))
  })
}

/** What the leader does with a round: sticky, balanced per subtopology, cooperative. */
export function assignRound(
  plan: ApplicationPlan,
  counts: PartitionCounts,
  round: AssignmentRound,
): ReadonlyMap<string, GroupAssignment> {
  const members = round.members.map(({ memberId, groupInstanceId, subscription }) => ({
    memberId,
    groupInstanceId,
    owned: subscription.ownedPartitions,
    generationId: subscription.generationId,
    capacity: 1,
  }))
  const assigned = assignSticky({ members, units: unitsOf(plan, counts) })
  const lost = lostClaims(members)
  const fingerprint = planFingerprint(plan, counts)
  const shutdown = round.members.some(({ subscription: { userData } }) =>
    asksForShutdown(userData === null ? undefined : jsonOf(userData)),
  )
  return new Map(
    members.map(({ memberId }) => [
      memberId,
      {
        partitions: (assigned.get(memberId) ?? []).flatMap(unit => unit.partitions),
        userData: encodeUserData({
          version: USER_DATA_VERSION,
          plan: fingerprint,
          lost: (lost.get(memberId) ?? []).map(({ topic, partition }) => [topic, partition] as const),
          ...(shutdown ? { shutdown } : {}),
        }),
      },
    ]),
  )
}

interface Claimant {
  readonly memberId: string
  readonly owned: readonly TopicPartition[]
  readonly generationId: number
}

/**
 * Of two members that claim a partition the one with the later generation owns it (KIP-792); the other one's claim is
 * lost. In a tie nobody can be believed: both lose it, and the assignor gives it to neither in this round.
 */
function lostClaims(members: readonly Claimant[]): ReadonlyMap<string, readonly TopicPartition[]> {
  const claimants = new TopicPartitionMap<Claimant[]>()
  for (const member of members) {
    for (const partition of member.owned) claimants.set(partition, [...(claimants.get(partition) ?? []), member])
  }
  const keeps = (member: Claimant, partition: TopicPartition): boolean =>
    (claimants.get(partition) ?? []).every(other => other === member || other.generationId < member.generationId)
  return new Map(
    members.map(member => [member.memberId, member.owned.filter(partition => !keeps(member, partition))] as const),
  )
}
