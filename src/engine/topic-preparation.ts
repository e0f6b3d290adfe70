import { counted } from '../model/counted.ts'
import { MillraceError } from '../model/errors.ts'
import type { Logger } from '../model/logger.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import type { Cluster } from '../kafka/cluster/cluster.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import { maxMessageBytesOf } from './max-message-bytes.ts'
import { ifAllowed } from './optional-right.ts'
import { settlePartitionCounts } from './partition-counts.ts'

/** Configuration of a repartition topic. Kafka Streams: `RepartitionTopicConfig`. */
const REPARTITION_CONFIGS: Readonly<Record<string, string>> = {
  'cleanup.policy': 'delete',
  'message.timestamp.type': 'CreateTime',
  // Records are deleted once they are processed (repartition purge), never by age: that would lose them.
  'retention.ms': '-1',
  'segment.bytes': '52428800',
}

/** Of these a wrong value loses records, so an existing topic is checked for them. */
const CHECKED_CONFIGS = ['cleanup.policy', 'retention.ms', 'message.timestamp.type'] as const

/** What the topics of an application are and should be. */
export interface TopicPlan {
  readonly topic: string
  readonly kind: 'input' | 'output' | 'deadLetter' | 'repartition' | 'changelog'
  readonly partitions: number
  readonly configs: Readonly<Record<string, string>>
  readonly exists: boolean
}

/** Topics as a stream thread needs them; plain data, posted to worker threads. */
export interface PreparedTopics {
  readonly partitions: ReadonlyMap<string, number>
  readonly maxMessageBytes: ReadonlyMap<string, number>
}

/** With what topics are looked up, created and checked. */
export interface TopicPreparationOptions {
  readonly cluster: Pick<Cluster, 'topics'>
  readonly admin: Pick<Admin, 'createTopics' | 'describeTopicConfigs'>
  readonly logger: Logger
  readonly plan: ApplicationPlan
  readonly deadLetterTopics: readonly string[]
  /** Whether topics may be created (`topics.create`). */
  readonly create: boolean
  /** Replication of created topics; −1 = the broker's default. */
  readonly replicationFactor: number
  /** `topic.` properties for internal topics. */
  readonly topicConfigs: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/**
 * Plans every topic of the application against the cluster, without changing it.
 *
 * @throws MillraceError `TOPIC_MISSING` for an input, `TOPIC_MISMATCH`, `NOT_COPARTITIONED`
 */
export async function planTopics(options: TopicPreparationOptions): Promise<readonly TopicPlan[]> {
  const { plan } = options
  const inputs = unique([
    ...plan.subtopologies.flatMap(s => s.sources.filter(source => !source.internal).flatMap(source => source.topics)),
    ...plan.globalTables.map(table => table.topic),
  ])
  const outputs = unique(plan.subtopologies.flatMap(s => s.sinkTopics)).filter(topic => !inputs.includes(topic))
  const deadLetters = unique(options.deadLetterTopics).filter(
    topic => !inputs.includes(topic) && !outputs.includes(topic),
  )
  const repartitions = unique(
    plan.subtopologies.flatMap(s => s.repartitionTopics.map(repartition => repartition.topic)),
  )
  const changelogs = plan.subtopologies.flatMap(s =>
    s.stores.flatMap(({ changelogTopic, configs, sourceTopicIsChangelog }) =>
      changelogTopic === undefined || sourceTopicIsChangelog
        ? []
        : [{ topic: changelogTopic, configs, subtopology: s }],
    ),
  )
  const names = [
    ...inputs,
    ...outputs,
    ...deadLetters,
    ...repartitions,
    ...changelogs.map(changelog => changelog.topic),
  ]
  const found = await options.cluster.topics(names)
  const missing = inputs.filter(topic => !found.has(topic))
  if (missing.length > 0) {
    throw new MillraceError('TOPIC_MISSING', {
      what: `${missing.length === 1 ? 'The input topic does' : 'Input topics do'} not exist: ${missing.join(', ')}.`,
      action: 'Create it with the partition count its producers expect, or correct the name in `sources`.',
    })
  }
  const countOf = (topic: string): number => found.get(topic)?.partitions.length ?? 0
  const counts = settlePartitionCounts(plan, new Map(inputs.map(topic => [topic, countOf(topic)])))
  const globals = new Set(plan.globalTables.map(table => table.topic))
  const widest = Math.max(1, ...inputs.filter(topic => !globals.has(topic)).map(countOf))
  const planned = (
    topic: string,
    kind: TopicPlan['kind'],
    partitions: number,
    configs: Readonly<Record<string, string>> = {},
  ): TopicPlan => ({
    topic,
    kind,
    partitions,
    configs,
    exists: found.has(topic),
  })
  const tasksOf = (sources: readonly { readonly topics: readonly string[] }[]): number =>
    Math.max(1, ...sources.flatMap(source => source.topics.map(topic => counts.get(topic) ?? 0)))
  const topics = [
    ...inputs.map(topic => planned(topic, 'input', countOf(topic))),
    ...outputs.map(topic => planned(topic, 'output', found.has(topic) ? countOf(topic) : widest)),
    ...deadLetters.map(topic => planned(topic, 'deadLetter', found.has(topic) ? countOf(topic) : widest)),
    ...repartitions.map(topic =>
      planned(topic, 'repartition', counts.get(topic) ?? widest, { ...REPARTITION_CONFIGS, ...options.topicConfigs }),
    ),
    ...changelogs.map(({ topic, configs, subtopology }) =>
      planned(topic, 'changelog', tasksOf(subtopology.sources), { ...configs, ...options.topicConfigs }),
    ),
  ]
  for (const topic of topics) if (topic.exists) assertPartitions(topic, countOf(topic.topic))
  return topics
}

/** Creates what is missing, checks what exists, and reads the limits of every written topic. */
export async function prepareTopics(options: TopicPreparationOptions): Promise<PreparedTopics> {
  const topics = await planTopics(options)
  const missing = topics.filter(topic => !topic.exists)
  if (missing.length > 0) await createTopics(options, missing)
  const written = topics.filter(topic => topic.kind !== 'input').map(topic => topic.topic)
  const configs = await configsOf(options.admin, written)
  for (const topic of topics) if (topic.exists) assertConfigs(topic, configs.get(topic.topic))
  return {
    partitions: new Map(topics.map(topic => [topic.topic, topic.partitions])),
    maxMessageBytes: new Map(written.map(topic => [topic, maxMessageBytesOf(configs.get(topic))])),
  }
}

type TopicConfigs = ReadonlyMap<string, ReadonlyMap<string, string>>

/**
 * The configurations that may be read; without DescribeConfigs the defaults hold. One topic that may not be looked at
 * makes the question for all of them fail, and changelogs have to be checked all the same.
 */
async function configsOf(admin: TopicPreparationOptions['admin'], topics: readonly string[]): Promise<TopicConfigs> {
  const all = await ifAllowed(admin.describeTopicConfigs(topics))
  if (all !== undefined) return all
  const each = await Promise.all(topics.map(topic => ifAllowed(admin.describeTopicConfigs([topic]))))
  return new Map(each.flatMap(found => [...(found ?? [])]))
}

async function createTopics(options: TopicPreparationOptions, missing: readonly TopicPlan[]): Promise<void> {
  if (!options.create) {
    throw new MillraceError('TOPIC_MISSING', {
      what: `Topics are missing and \`topics.create\` is off: ${missing.map(topic => `${topic.topic} (${topic.kind}, ${counted(topic.partitions, 'partition')})`).join(', ')}.`,
      action: 'Create them by hand as `millrace topics --dry-run` prints them.',
    })
  }
  await options.admin.createTopics(
    missing.map(({ topic, partitions, configs }) => ({
      name: topic,
      partitions,
      configs,
      replicationFactor: options.replicationFactor,
    })),
    options.timeoutMs,
  )
  for (const { topic, kind, partitions } of missing) options.logger.info({ topic, kind, partitions }, 'topic created')
}

function assertPartitions({ topic, kind, partitions }: TopicPlan, actual: number): void {
  if (partitions === actual) return
  throw new MillraceError('TOPIC_MISMATCH', {
    topic,
    what: `The ${kind} topic has ${counted(actual, 'partition')}, the application needs ${String(partitions)}.`,
    action:
      'State is placed by partition, so the count cannot change under it: recreate the inputs with the old count, or start over with `millrace reset`.',
  })
}

function assertConfigs({ topic, kind, configs }: TopicPlan, actual: ReadonlyMap<string, string> | undefined): void {
  if (actual === undefined || (kind !== 'repartition' && kind !== 'changelog')) return
  for (const name of CHECKED_CONFIGS) {
    const wanted = configs[name]
    const found = actual.get(name)
    if (wanted === undefined || found === undefined || sameList(wanted, found)) continue
    throw new MillraceError('TOPIC_MISMATCH', {
      topic,
      what: `The ${kind} topic has ${name}=${found}, the application needs ${name}=${wanted}.`,
      action: `Set ${name}=${wanted} on the topic; another value loses state or records.`,
    })
  }
}

/** `compact,delete` and `delete,compact` are the same policy. */
function sameList(a: string, b: string): boolean {
  return sortedList(a) === sortedList(b)
}

function sortedList(list: string): string {
  return list
    .split(',')
    .map(part => part.trim())
    .toSorted()
    .join(',')
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
