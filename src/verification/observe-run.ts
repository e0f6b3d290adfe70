import { counted } from '../model/counted.ts'
import { sleep, type Clock } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import type { ErrorPolicies } from '../model/record-failure.ts'
import { formatTopicPartition, type TopicPartition, TopicPartitionMap } from '../model/topic-partition.ts'
import type { Admin } from '../kafka/admin/admin.ts'
import type { Cluster } from '../kafka/cluster/cluster.ts'
import type { OffsetAndMetadata } from '../kafka/offset-and-metadata.ts'
import { readProvenance } from '../engine/provenance.ts'
import { transactionOwner } from '../engine/transaction-owner.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { ProcessingGuarantee } from '../topology/properties.ts'
import { LogReader } from './log-reader.ts'
import { OFFSETS_TOPIC, offsetsPartitionOf, readOffsetHistory, type OffsetHistory } from './offset-history.ts'
import { ObservedLogs, visible } from './observed-log.ts'
import type { RunObservation } from './run-observation.ts'
import { runModel } from './model-run.ts'
import { allMarked, inputTopics, taskViews, writtenTopics } from './task-view.ts'

/** What a run is observed with. */
export interface ObserverOptions {
  readonly cluster: Cluster
  readonly admin: Admin
  readonly clock: Clock
  readonly plan: ApplicationPlan
  readonly policies: ErrorPolicies
  readonly guarantee: ProcessingGuarantee
  /** How long to wait until everything is read and decided; then the observation says what is not. */
  readonly settleTimeoutMs: number
  /** More records are not held in memory. @default 5,000,000 */
  readonly recordsMax?: number
  /** Told what is being done, in words. */
  readonly onProgress?: (doing: string) => void
}

const RECORDS_MAX = 5_000_000
const POLL_MS = 100

/**
 * Observes a run after it has come to rest: lag 0, nothing open, the group empty; then offsets, then every log. The order
 * is that of docs/correctness.md. Reads only.
 *
 * @throws MillraceError `BROKER_UNREACHABLE`, `NOT_AUTHORIZED`, …
 * @throws TooMuchToRead
 */
export async function observeRun(options: ObserverOptions): Promise<RunObservation> {
  const { plan, policies, guarantee, admin, onProgress } = options
  const reader = new LogReader({
    ...options,
    recordsMax: options.recordsMax ?? RECORDS_MAX,
    onProgress: records => onProgress?.(`${String(records)} records read`),
  })
  const unsettled = [...(await untilSettled(options))]
  const inputs = await inputPartitions(options)
  const committed =
    inputs.length === 0 ? new TopicPartitionMap<never>() : await admin.committedOffsets(plan.applicationId, inputs)
  const application = { plan, policies, guarantee, hasProvenance: false }
  const bare: RunObservation = {
    application,
    logs: new ObservedLogs([]),
    committed,
    offsetHistory: undefined,
    unsettled,
  }
  const topics = new Set([...inputTopics(plan), ...writtenTopics(bare)])
  let logs = new ObservedLogs([])
  for (const topic of topics) logs = logs.with(await reader.read(topic))
  const offsetHistory = await historyOf(options, reader, committed.keys())
  const hasMoved = inputs.length > 0 && !areSame(committed, await admin.committedOffsets(plan.applicationId, inputs))
  if (hasMoved) unsettled.push('the application committed while it was looked at')
  const run = { ...bare, hasMoved, logs, offsetHistory, maxMessageBytes: await limitsOf(options, topics) }
  const marked = { ...run, application: { ...application, hasProvenance: isMarked(run) } }
  return plan.subtopologies.some(({ hasDynamicSinks }) => hasDynamicSinks)
    ? await withChosenTopics(marked, reader)
    : marked
}

function areSame(before: TopicPartitionMap<OffsetAndMetadata>, after: TopicPartitionMap<OffsetAndMetadata>): boolean {
  return (
    before.size === after.size &&
    [...before].every(([partition, held]) => {
      const now = after.get(partition)
      return now?.offset === held.offset && now.metadata === held.metadata
    })
  )
}

async function inputPartitions({ cluster, plan }: ObserverOptions): Promise<readonly TopicPartition[]> {
  const partitions: TopicPartition[] = []
  for (const topic of new Set(plan.subtopologies.flatMap(({ sources }) => sources.flatMap(({ topics }) => topics)))) {
    const info = await cluster.topic(topic)
    for (const { partition } of info?.partitions ?? []) partitions.push({ topic, partition })
  }
  return partitions
}

/** Waits until nothing moves; @returns what still does when the time is up */
async function untilSettled(options: ObserverOptions): Promise<readonly string[]> {
  const { clock, settleTimeoutMs, onProgress } = options
  const deadlineMs = clock.nowMs() + settleTimeoutMs
  for (;;) {
    const troubles = await troublesOf(options)
    if (troubles.length === 0 || clock.nowMs() >= deadlineMs) return troubles
    onProgress?.(`waiting: ${troubles[0] ?? ''}`)
    await sleep(clock, POLL_MS)
  }
}

async function troublesOf(options: ObserverOptions): Promise<readonly string[]> {
  const { admin, plan, cluster } = options
  const troubles: string[] = []
  const inputs = await inputPartitions(options)
  const missing = inputTopics(plan).filter(topic => !inputs.some(input => input.topic === topic))
  for (const topic of missing)
    if ((await cluster.topic(topic)) === undefined) troubles.push(`the topic ${topic} does not exist`)
  const group = await admin.describeGroup(plan.applicationId)
  if (group.members.length > 0) {
    troubles.push(
      `the application is running: group ${plan.applicationId} is ${group.state} with ${counted(group.members.length, 'member')}`,
    )
  }
  troubles.push(...(await openTransactions(options)))
  if (inputs.length === 0) return troubles
  const ends = await admin.listOffsets(inputs, 'latest', 'read_uncommitted')
  const stable = await admin.listOffsets(inputs, 'latest', 'read_committed')
  const committed = await admin.committedOffsets(plan.applicationId, inputs, { requireStable: false })
  for (const input of inputs) {
    const end = ends.get(input) ?? 0
    const offset = committed.get(input)?.offset
    if ((stable.get(input) ?? 0) < end) troubles.push(`a transaction is open on ${formatTopicPartition(input)}`)
    if (end > 0 && (offset ?? 0) < end) {
      troubles.push(
        `${formatTopicPartition(input)} ${offset === undefined ? 'has no committed offset' : `is committed up to ${String(offset)} of ${String(end)}`} (lag)`,
      )
    }
  }
  return troubles
}

/** Transactions of the application's own transactional ids that are not ended. */
async function openTransactions({ admin, plan }: ObserverOptions): Promise<readonly string[]> {
  try {
    const all = await admin.listTransactions({})
    const groups = new Set([plan.applicationId, ...(await admin.listGroups()).map(({ groupId }) => groupId)])
    return all
      .filter(({ transactionalId }) => transactionOwner(transactionalId, groups)?.applicationId === plan.applicationId)
      .filter(({ state }) => state === 'Ongoing' || state.startsWith('Prepare'))
      .map(({ transactionalId, state }) => `the transaction of ${transactionalId} is ${state}`)
  } catch (error) {
    // The last stable offsets of the topics tell the same.
    if (error instanceof MillraceError && error.code === 'NOT_AUTHORIZED') return []
    throw error
  }
}

/** The group's own log; `undefined` when it may not be read. */
async function historyOf(
  { cluster, plan }: ObserverOptions,
  reader: LogReader,
  held: Iterable<TopicPartition>,
): Promise<OffsetHistory | undefined> {
  try {
    const info = await cluster.topic(OFFSETS_TOPIC)
    if (info === undefined) return undefined
    const [log] = await reader.read(OFFSETS_TOPIC, offsetsPartitionOf(plan.applicationId, info.partitions.length))
    return log === undefined ? undefined : readOffsetHistory(log, plan.applicationId, held)
  } catch (error) {
    if (error instanceof MillraceError && (error.code === 'NOT_AUTHORIZED' || error.code === 'TOPIC_MISSING'))
      return undefined
    throw error
  }
}

async function limitsOf(
  { admin, cluster }: ObserverOptions,
  topics: Iterable<string>,
): Promise<ReadonlyMap<string, number>> {
  const limits = new Map<string, number>()
  for (const topic of topics) {
    if ((await cluster.topic(topic)) === undefined) continue
    try {
      const configs = await admin.describeTopicConfigs([topic])
      const limit = Number(configs.get(topic)?.get('max.message.bytes'))
      if (Number.isSafeInteger(limit)) limits.set(topic, limit)
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code !== 'NOT_AUTHORIZED') throw error
    }
  }
  return limits
}

/** Adds the topics that steps choose per record: the model says which they are. */
async function withChosenTopics(run: RunObservation, reader: LogReader): Promise<RunObservation> {
  const marked = run.application.hasProvenance ? allMarked(run) : []
  const written = taskViews(run).flatMap(task => runModel(run, task, marked).written.map(({ topic }) => topic))
  let { logs } = run
  for (const topic of new Set(written)) if (!logs.has(topic)) logs = logs.with(await reader.read(topic))
  const whole = { ...run, logs }
  return { ...whole, application: { ...run.application, hasProvenance: isMarked(whole) } }
}

/** Whether the application marked its records from the first one on. */
function isMarked(run: RunObservation): boolean {
  const firsts = writtenTopics(run).flatMap(topic =>
    run.logs.of(topic).flatMap(log => {
      const [first] = visible(log)
      return first === undefined ? [] : [first]
    }),
  )
  return firsts.length > 0 && firsts.every(({ headers }) => readProvenance(headers) !== undefined)
}
