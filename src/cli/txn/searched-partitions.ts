import type { EngineConfig } from '../../config/engine-config.ts'
import { MillraceError } from '../../model/errors.ts'
import type { TopicPartition } from '../../model/topic-partition.ts'
import type { ApplicationPlan } from '../../topology/plan.ts'
import type { ClusterAccess } from '../cluster-access.ts'

/** Where to look: one topic or partition, the topics of an application, or all that may be seen. */
export interface SearchPlace {
  readonly topic: string | undefined
  readonly partition: number | undefined
  readonly all: boolean
}

const OFFSETS_TOPIC = '__consumer_offsets'

/** The partitions to look at. @throws MillraceError `TOPIC_MISSING` for a topic or partition that was named */
export async function searchedPartitions(
  { admin, cluster }: ClusterAccess,
  plan: ApplicationPlan | undefined,
  config: EngineConfig,
  { topic, partition, all }: SearchPlace,
): Promise<readonly TopicPartition[]> {
  if (topic !== undefined) return namedPartitions(cluster, topic, partition)
  const topics = (await admin.listTopics()).map(({ name, partitions }) => ({ name, partitions }))
  if (plan === undefined || all) return topics.flatMap(partitionsOf)
  const own = topicsOf(plan, config)
  const offsets = topics.find(({ name }) => name === OFFSETS_TOPIC)
  return [
    ...topics.filter(({ name }) => own.has(name)).flatMap(partitionsOf),
    // A transaction that hangs here keeps the group from reading its offsets.
    ...(offsets === undefined
      ? []
      : [{ topic: OFFSETS_TOPIC, partition: offsetsPartition(plan.applicationId, offsets.partitions) }]),
  ]
}

async function namedPartitions(
  cluster: ClusterAccess['cluster'],
  topic: string,
  partition: number | undefined,
): Promise<readonly TopicPartition[]> {
  const info = await cluster.topic(topic)
  const partitions = (info?.partitions ?? []).filter(each => partition === undefined || each.partition === partition)
  if (partitions.length > 0) return partitions.map(each => ({ topic, partition: each.partition }))
  throw new MillraceError('TOPIC_MISSING', {
    topic,
    ...(partition === undefined ? {} : { partition }),
    what: `The ${info === undefined ? 'topic' : 'partition'} does not exist.`,
  })
}

function partitionsOf({ name, partitions }: { readonly name: string; readonly partitions: number }): TopicPartition[] {
  return Array.from({ length: partitions }, (_, partition) => ({ topic: name, partition }))
}

/** Every topic that the application reads or writes, as far as its graph names them. */
function topicsOf(plan: ApplicationPlan, { errors }: EngineConfig): ReadonlySet<string> {
  const named = plan.subtopologies.flatMap(({ sources, sinkTopics, repartitionTopics, stores }) => [
    ...sources.flatMap(source => [...source.topics, source.errors?.deadLetterTopic]),
    ...sinkTopics,
    ...repartitionTopics.map(({ topic }) => topic),
    ...stores.map(({ changelogTopic }) => changelogTopic),
  ])
  const all = [...named, ...plan.globalTables.map(({ topic }) => topic), errors.deadLetterTopic]
  return new Set(all.filter(topic => topic !== undefined))
}

/** The partition that holds the offsets of a group, by Java's hash of its name. Kafka: `GroupCoordinator.partitionFor`. */
export function offsetsPartition(group: string, partitions: number): number {
  let hash = 0
  for (let index = 0; index < group.length; index += 1) hash = (Math.imul(31, hash) + group.charCodeAt(index)) | 0
  // The smallest number has no positive counterpart in Java, where it becomes 0.
  return hash === -(2 ** 31) ? 0 : Math.abs(hash) % partitions
}
