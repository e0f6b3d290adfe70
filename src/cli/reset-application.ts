import { counted } from '../model/counted.ts'
import { rm } from 'node:fs/promises'
import type { EngineConfig } from '../config/engine-config.ts'
import { applicationStateDir } from '../engine/process-identity.ts'
import type { OffsetAndMetadata } from '../kafka/offset-and-metadata.ts'
import { MillraceError } from '../model/errors.ts'
import { TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { ApplicationPlace } from './application-options.ts'
import { withCluster, type ClusterAccess } from './cluster-access.ts'
import type { CommandIo } from './command-io.ts'
import { EXIT_CODES } from './exit-codes.ts'
import { loadPlanned } from './loaded-application.ts'
import { ownTransactions } from './own-transactions.ts'
import type { ResetTarget } from './reset-target.ts'
import { textTable } from './text-table.ts'

/** `millrace reset`. Kafka Streams: `StreamsResetter`. @returns the exit code */
export async function resetApplication(
  place: ApplicationPlace,
  { target, execute }: { readonly target: ResetTarget; readonly execute: boolean },
  io: CommandIo,
): Promise<number> {
  const { config, plan } = await loadPlanned(place)
  await withCluster(config, async access => {
    await assertStopped(access, config)
    const inputs = await inputPartitions(access, plan)
    const offsets = await offsetsAt(access, inputs, target)
    const topics = await existingInternalTopics(access, plan)
    const open = await openTransactions(access, config)
    io.out(describeReset({ config, offsets, topics, open }))
    if (!execute) {
      io.out('\nNothing was changed. Add --execute to do it.')
      return
    }
    // A dead process may have left a transaction open: it would hold back readers, and offsets in it could still land.
    for (const transactionalId of open) await access.admin.fenceTransaction(transactionalId)
    await access.admin.deleteGroup(config.applicationId)
    await access.admin.alterGroupOffsets(config.applicationId, offsets)
    await access.admin.deleteTopics(topics)
    await rm(applicationStateDir(config.stateDir, config.applicationId), { recursive: true, force: true })
    io.out('\nDone. What the application wrote to its output topics stays there.')
  })
  return EXIT_CODES.ok
}

async function assertStopped({ admin }: ClusterAccess, { applicationId }: EngineConfig): Promise<void> {
  const { state, members } = await admin.describeGroup(applicationId)
  if (members.length === 0) return
  throw new MillraceError('CONFIG_CONFLICT', {
    what: `The group ${applicationId} is ${state} and has ${counted(members.length, 'member')}.`,
    action: 'Stop every instance first. A killed static member stays until session.timeout.ms has passed.',
  })
}

async function inputPartitions({ cluster }: ClusterAccess, plan: ApplicationPlan): Promise<readonly TopicPartition[]> {
  const names = plan.subtopologies.flatMap(({ sources }) =>
    sources.filter(({ internal }) => !internal).flatMap(({ topics }) => topics),
  )
  const found = await cluster.topics([...new Set(names)])
  return [...new Set(names)].flatMap(topic => {
    const info = found.get(topic)
    if (info === undefined) throw new MillraceError('TOPIC_MISSING', { topic })
    return info.partitions.map(({ partition }) => ({ topic, partition }))
  })
}

async function offsetsAt(
  { admin }: ClusterAccess,
  partitions: readonly TopicPartition[],
  target: ResetTarget,
): Promise<TopicPartitionMap<OffsetAndMetadata>> {
  const starts = await admin.listOffsets(partitions, 'earliest', 'read_committed')
  const ends = await admin.listOffsets(partitions, 'latest', 'read_committed')
  const timestamp = timestampOf(target)
  const timed =
    timestamp === undefined ? undefined : await admin.listOffsets(partitions, { timestamp }, 'read_committed')
  const offsets = new TopicPartitionMap<OffsetAndMetadata>()
  for (const topicPartition of partitions) {
    const start = starts.get(topicPartition) ?? 0
    const end = ends.get(topicPartition) ?? start
    const wanted = wantedOffset(target, { start, end, timed: timed?.get(topicPartition) })
    offsets.set(topicPartition, { offset: Math.min(end, Math.max(start, wanted)), leaderEpoch: -1, metadata: '' })
  }
  return offsets
}

function timestampOf(target: ResetTarget): number | undefined {
  if (target.kind === 'timestamp') return target.timestampMs
  return target.kind === 'age' ? Date.now() - target.ageMs : undefined
}

function wantedOffset(
  target: ResetTarget,
  { start, end, timed }: { readonly start: number; readonly end: number; readonly timed: number | undefined },
): number {
  switch (target.kind) {
    case 'earliest':
      return start
    case 'latest':
      return end
    case 'offset':
      return target.offset
    case 'timestamp':
    case 'age':
      // −1: nothing is as new as that, so only what comes is read.
      return timed === undefined || timed < 0 ? end : timed
  }
}

async function existingInternalTopics({ cluster }: ClusterAccess, plan: ApplicationPlan): Promise<readonly string[]> {
  const names = plan.subtopologies.flatMap(({ repartitionTopics, stores }) => [
    ...repartitionTopics.map(({ topic }) => topic),
    ...stores.flatMap(({ changelogTopic, sourceTopicIsChangelog }) =>
      changelogTopic === undefined || sourceTopicIsChangelog ? [] : [changelogTopic],
    ),
  ])
  const found = await cluster.topics([...new Set(names)])
  return [...found.keys()]
}

async function openTransactions({ admin }: ClusterAccess, { applicationId }: EngineConfig): Promise<readonly string[]> {
  const ongoing = await admin.listTransactions({ states: ['Ongoing'] })
  const ids = ongoing.map(({ transactionalId }) => transactionalId)
  const groups = await admin.listGroups()
  return ownTransactions(
    ids,
    applicationId,
    groups.map(({ groupId }) => groupId),
  )
}

function describeReset({
  config,
  offsets,
  topics,
  open,
}: {
  readonly config: EngineConfig
  readonly offsets: TopicPartitionMap<OffsetAndMetadata>
  readonly topics: readonly string[]
  readonly open: readonly string[]
}): string {
  const rows = Array.from(offsets, ([{ topic, partition }, { offset }]) => [topic, String(partition), String(offset)])
  return [
    `Offsets of the group ${config.applicationId}:`,
    textTable([['  topic', 'partition', 'offset'], ...rows.map(([topic = '', ...rest]) => [`  ${topic}`, ...rest])]),
    `Topics to be deleted: ${listOr(topics, 'none')}`,
    `Open transactions to be aborted: ${listOr(open, 'none')}`,
    `State to be removed on this machine: ${applicationStateDir(config.stateDir, config.applicationId)}`,
  ].join('\n')
}

function listOr(list: readonly string[], none: string): string {
  return list.length === 0 ? none : list.join(', ')
}
