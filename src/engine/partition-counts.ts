import { MillraceError } from '../model/errors.ts'
import type { ApplicationPlan, RepartitionTopicPlan } from '../topology/plan.ts'

/**
 * Settles how many partitions every repartition topic has: what its step says, else what it is joined with, else as many
 * as the topics it is fed from. Kafka Streams: `RepartitionTopics`, `CopartitionedTopicsEnforcer`.
 *
 * @param external - partition counts of all topics that are not ours to create
 * @throws MillraceError `NOT_COPARTITIONED` naming the topics and their counts
 */
export function settlePartitionCounts(
  plan: ApplicationPlan,
  external: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const counts = new Map(external)
  const repartitions = plan.subtopologies.flatMap(subtopology => subtopology.repartitionTopics)
  const groups = plan.subtopologies.flatMap(({ copartitionGroups }) => copartitionGroups)
  // Repartition topics may feed each other: each round settles at least one, so the number of topics bounds the rounds.
  for (let round = 0; round <= repartitions.length; round += 1) {
    for (const repartition of repartitions) {
      const count = fixedCount(repartition) ?? countFromUpstream(repartition, counts)
      if (count !== undefined && !counts.has(repartition.topic)) counts.set(repartition.topic, count)
    }
    // The topics of a foreign-key join feed each other in a circle: what they are joined with settles them.
    for (const group of groups) adopt(group, { counts, repartitions })
  }
  for (const group of groups) copartition(group, { counts, repartitions })
  return counts
}

function fixedCount(repartition: RepartitionTopicPlan): number | undefined {
  return repartition.partitions
}

function countFromUpstream(repartition: RepartitionTopicPlan, counts: ReadonlyMap<string, number>): number | undefined {
  const upstream = repartition.upstreamTopics.map(topic => counts.get(topic))
  if (upstream.length === 0 || upstream.includes(undefined)) return undefined
  return Math.max(...upstream.filter(count => count !== undefined))
}

interface Settling {
  readonly counts: Map<string, number>
  readonly repartitions: readonly RepartitionTopicPlan[]
}

/** Gives the topics of a group that are not settled the count of one that cannot change. */
function adopt(group: readonly string[], { counts, repartitions }: Settling): void {
  const free = repartitions.filter(repartition => fixedCount(repartition) === undefined)
  const isFree = (topic: string): boolean => free.some(repartition => repartition.topic === topic)
  const fixed = group.find(topic => !isFree(topic) && counts.has(topic))
  const count = fixed === undefined ? undefined : counts.get(fixed)
  if (count === undefined) return
  for (const topic of group) if (!counts.has(topic)) counts.set(topic, count)
}

function copartition(group: readonly string[], { counts, repartitions }: Settling): void {
  const free = new Set(
    repartitions.filter(repartition => fixedCount(repartition) === undefined).map(repartition => repartition.topic),
  )
  const fixed = group.filter(topic => !free.has(topic))
  const fixedCounts = new Set(fixed.map(topic => counts.get(topic)))
  if (fixedCounts.size > 1) {
    throw new MillraceError('NOT_COPARTITIONED', {
      what: `These topics are joined and have different partition counts: ${fixed.map(topic => `${topic} (${String(counts.get(topic) ?? 0)})`).join(', ')}.`,
    })
  }
  const [decided] = fixedCounts
  const count = decided ?? Math.max(...group.map(topic => counts.get(topic) ?? 1))
  for (const topic of group) if (free.has(topic)) counts.set(topic, count)
}
