import type { ApplicationPlan, SourcePlan, SubtopologyPlan } from '../topology/plan.ts'
import { formatTopicPartition, type TopicPartition } from '../model/topic-partition.ts'
import { readProvenance, type Provenance } from '../engine/provenance.ts'
import type { RunObservation } from './run-observation.ts'
import { missingOffsets, type ObservedPartition, type ObservedRecord, visible } from './observed-log.ts'

/** One input partition of a task, as far as it is committed. */
export interface InputView {
  readonly topicPartition: TopicPartition
  readonly source: SourcePlan
  readonly log: ObservedPartition
  /** C: the group's committed offset; where reading began when nothing is committed. */
  readonly committed: number
  /** Whether the group holds an offset. */
  readonly hasCommit: boolean
  /** Committed records of the log below C, in order. */
  readonly records: readonly ObservedRecord[]
}

/** One task: a subtopology over one partition of its inputs. */
export interface TaskView {
  /** `<subtopology>_<partition>`. */
  readonly id: string
  readonly plan: SubtopologyPlan
  readonly partition: number
  readonly inputs: readonly InputView[]
  /** Why what the task did cannot be computed again from its inputs; empty when it can. */
  readonly obstacles: readonly string[]
}

/** A visible record with what its header says. */
export interface MarkedRecord {
  readonly record: ObservedRecord
  readonly provenance: Provenance
}

/** The tasks of a run. */
export function taskViews(run: RunObservation): readonly TaskView[] {
  return run.application.plan.subtopologies.flatMap(plan => {
    const partitions = Math.max(
      0,
      ...plan.sources.flatMap(({ topics }) => topics.map(topic => run.logs.of(topic).length)),
    )
    return Array.from({ length: partitions }, (_, partition) => taskView(run, plan, partition))
  })
}

function taskView(run: RunObservation, plan: SubtopologyPlan, partition: number): TaskView {
  const inputs = plan.sources.flatMap(source =>
    source.topics.flatMap(topic => inputView(run, source, { topic, partition }) ?? []),
  )
  return {
    id: `${String(plan.id)}_${String(partition)}`,
    plan,
    partition,
    inputs,
    obstacles: inputs.flatMap(input => obstaclesOf(run, input)),
  }
}

function inputView(run: RunObservation, source: SourcePlan, topicPartition: TopicPartition): InputView | undefined {
  const log = run.logs.get(topicPartition)
  if (log === undefined) return undefined
  const held = run.committed.get(topicPartition)
  const beginning = run.beginnings?.get(topicPartition) ?? 0
  const committed = held?.offset ?? beginning
  return {
    topicPartition,
    source,
    log,
    committed,
    hasCommit: held !== undefined,
    records: visible(log).filter(({ offset }) => offset >= beginning && offset < committed),
  }
}

function obstaclesOf({ beginnings }: RunObservation, { log, topicPartition, source, hasCommit }: InputView): string[] {
  const name = formatTopicPartition(topicPartition)
  const obstacles: string[] = []
  const beginning = beginnings?.get(topicPartition) ?? 0
  if (hasCommit && log.logStart > beginning) {
    obstacles.push(
      `${name} begins at offset ${String(log.logStart)} now: its first records were deleted${source.internal ? ' by the repartition purge (provenance.headers keeps them)' : ' by retention or by hand'}`,
    )
  }
  const missing = missingOffsets(log)
  if (missing > 0) obstacles.push(`${name} has been compacted: ${String(missing)} offsets are gone`)
  const startsElsewhere = source.offsetReset !== 'earliest' && beginnings?.get(topicPartition) === undefined
  if (startsElsewhere)
    obstacles.push(`where the reading of ${name} began is not known: its reset policy is not "earliest"`)
  return obstacles
}

/** Topics the application reads. */
export function inputTopics({ subtopologies, globalTables }: ApplicationPlan): readonly string[] {
  return [
    ...subtopologies.flatMap(({ sources }) => sources.flatMap(({ topics }) => topics)),
    ...globalTables.map(({ topic }) => topic),
  ]
}

/** Every topic an application writes to: those that its graph names, and those chosen per record that were looked at. */
export function writtenTopics({ application, logs }: RunObservation): readonly string[] {
  const { plan, policies } = application
  const topics = plan.subtopologies.flatMap(({ sinkTopics, repartitionTopics, stores, sources }) => [
    ...sinkTopics,
    ...repartitionTopics.map(({ topic }) => topic),
    ...stores.flatMap(({ changelogTopic, sourceTopicIsChangelog }) =>
      changelogTopic === undefined || sourceTopicIsChangelog ? [] : [changelogTopic],
    ),
    ...sources.flatMap(({ errors }) => errors?.deadLetterTopic ?? []),
  ])
  const read = new Set(inputTopics(plan))
  const chosen = plan.subtopologies.some(({ hasDynamicSinks }) => hasDynamicSinks)
    ? logs.all().flatMap(({ topic }) => (read.has(topic) ? [] : [topic]))
    : []
  return [
    ...new Set([...topics, ...(policies.deadLetterTopic === undefined ? [] : [policies.deadLetterTopic]), ...chosen]),
  ]
}

/** Records of a log that carry provenance, by this application, whatever became of them. */
export function markedRecords(run: RunObservation, log: ObservedPartition): readonly MarkedRecord[] {
  const { applicationId } = run.application.plan
  return log.records.flatMap(record => {
    const provenance = provenanceOf(record)
    return provenance?.application === applicationId ? [{ record, provenance }] : []
  })
}

/** What headers say, read once: several checks ask. */
const KNOWN = new WeakMap<ObservedRecord, Provenance | 'none'>()

function provenanceOf(record: ObservedRecord): Provenance | undefined {
  const known = KNOWN.get(record) ?? readProvenance(record.headers) ?? 'none'
  KNOWN.set(record, known)
  return known === 'none' ? undefined : known
}

/** All records with provenance in all topics the application writes. */
export function allMarked(run: RunObservation): readonly MarkedRecord[] {
  return writtenTopics(run).flatMap(topic => run.logs.of(topic).flatMap(log => markedRecords(run, log)))
}

/** A record's place in words, such as `totals-2@17`. */
export function placeOf({ topic, partition, offset }: ObservedRecord): string {
  return `${topic}-${String(partition)}@${String(offset)}`
}

/** What a record came from in words. */
export function causeOf({ topic, partition, offset }: Provenance): string {
  return topic === '' ? 'a punctuation' : `${topic}-${String(partition)}@${String(offset)}`
}
