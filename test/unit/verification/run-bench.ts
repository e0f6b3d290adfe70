import type { ErrorPolicies } from '../../../src/model/record-failure.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { NO_HEADERS, type RecordHeaders } from '../../../src/model/headers.ts'
import type { RecordSource } from '../../../src/model/record-source.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { STAMPED_WHEN_SENT } from '../../../src/stores/changelog.ts'
import { partitionForKey } from '../../../src/model/murmur2.ts'
import { outputBySending, type RecordCollector } from '../../../src/engine/record-collector.ts'
import type { TopicOutput } from '../../../src/operators/sink.ts'
import { StreamTask } from '../../../src/engine/stream-task.ts'
import type { OffsetAndMetadata } from '../../../src/kafka/offset-and-metadata.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import type { ApplicationPlan, SubtopologyPlan } from '../../../src/topology/plan.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { checkRun, type RunVerdict } from '../../../src/verification/check-run.ts'
import type { HistoryEvent } from '../../../src/verification/history.ts'
import type { OffsetCommit } from '../../../src/verification/offset-history.ts'
import { ObservedLogs, type ObservedRecord, visible } from '../../../src/verification/observed-log.ts'
import type { RunObservation } from '../../../src/verification/run-observation.ts'
import type { CheckName, CheckReport } from '../../../src/verification/verdict.ts'
import { type BenchEntry, BenchLog } from './bench-log.ts'

/** What is run, and how. */
export interface RunBenchOptions {
  readonly policies?: ErrorPolicies
  readonly properties?: Partial<StreamsProperties>
  /** Of every topic. @default 2 */
  readonly partitions?: number
  readonly hasProvenance?: boolean
  /** Input records of one transaction. @default 3 */
  readonly recordsPerTransaction?: number
  /** Whether each third transaction is aborted and done again. @default true */
  readonly aborts?: boolean
}

const GROUP_PRODUCER = 900

/**
 * An application run by the engine's own tasks over logs in memory, with transactions, aborts, markers and offset commits:
 * a good run, in which a test then changes something before it is judged.
 */
export class RunBench {
  readonly plan: ApplicationPlan
  readonly commits: OffsetCommit[] = []
  readonly committed = new TopicPartitionMap<OffsetAndMetadata>()
  readonly unsettled: string[] = []
  /** Overrides of the observation. */
  more: Partial<RunObservation> = {}
  hasHistory = true
  readonly #logs = new Map<string, BenchLog[]>()
  readonly #options: RunBenchOptions
  #transaction = 1_000
  #epoch = 0
  #decidedAt = 0

  constructor(define: (builder: StreamsBuilder) => void, options: RunBenchOptions = {}) {
    this.#options = options
    this.plan = planApplication(streams(define), { ...options.properties, 'application.id': 'app' })
  }

  /** The log of a partition; it is made when it is first asked for. */
  log(topic: string, partition = 0): BenchLog {
    const { partitions = 2 } = this.#options
    let logs = this.#logs.get(topic)
    if (logs === undefined) {
      logs = Array.from({ length: partitions }, (_, at) => new BenchLog(topic, at))
      this.#logs.set(topic, logs)
    }
    const log = logs[partition]
    if (log === undefined) throw new Error(`${topic} has no partition ${String(partition)}`)
    return log
  }

  /** Forgets a topic, as if somebody had deleted it. */
  deleteTopic(topic: string): void {
    this.#logs.delete(topic)
  }

  /** Runs every task to the end of its input, subtopologies in their order. */
  run(): this {
    const { partitions = 2 } = this.#options
    for (const plan of this.plan.subtopologies) {
      for (let partition = 0; partition < partitions; partition++) new BenchTask(this, plan, partition).run()
    }
    return this
  }

  get options(): RunBenchOptions {
    return this.#options
  }

  /** Number, epoch and place in the log of offsets of the next transaction. */
  nextTransaction(): { readonly number: number; readonly epoch: number; readonly decidedAt: number } {
    this.#transaction += 1
    this.#epoch += 1
    this.#decidedAt += 1
    return { number: this.#transaction, epoch: this.#epoch, decidedAt: this.#decidedAt }
  }

  get transaction(): number {
    return this.#transaction + 1
  }

  observe(): RunObservation {
    const { policies = {}, hasProvenance = true } = this.#options
    // Topics that exist though nothing was written to them.
    for (const { sources, sinkTopics, repartitionTopics, stores } of this.plan.subtopologies) {
      for (const { topics } of sources) for (const topic of topics) this.#exists(topic)
      for (const topic of sinkTopics) this.#exists(topic)
      for (const { topic } of repartitionTopics) this.#exists(topic)
      for (const { changelogTopic } of stores) if (changelogTopic !== undefined) this.#exists(changelogTopic)
    }
    return {
      application: { plan: this.plan, policies, guarantee: 'exactly_once_v2', hasProvenance },
      logs: new ObservedLogs([...this.#logs.values()].flatMap(logs => logs.map(log => log.observed()))),
      committed: this.committed,
      offsetHistory: this.hasHistory ? { commits: this.commits, isComplete: true, deleted: [] } : undefined,
      unsettled: this.unsettled,
      ...this.more,
    }
  }

  judge(): RunVerdict {
    return checkRun(this.observe())
  }

  /** What a read_committed reader would have been shown. */
  readHistory(topic: string): HistoryEvent[] {
    return (this.#logs.get(topic) ?? []).flatMap(log =>
      visible(log.observed()).map(({ partition, offset, key, value }) => ({
        kind: 'read' as const,
        atMs: offset,
        topic,
        partition,
        offset,
        key: key?.toString('hex') ?? null,
        value: value?.toString('hex') ?? null,
      })),
    )
  }

  /** Topics that a test has deleted stay so: only what was never there is made. */
  #exists(topic: string): void {
    if (!this.#logs.has(topic) && !this.deleted.has(topic)) this.log(topic)
  }

  readonly deleted = new Set<string>()
}

/** The report of one check. */
export function reportOf({ checks }: RunVerdict, name: CheckName): CheckReport {
  const report = checks.find(({ check }) => check === name)
  if (report === undefined) throw new Error(`there is no check ${name}`)
  return report
}

/** Everything that was found, as `check: kind`. */
export function foundIn({ checks }: RunVerdict): readonly string[] {
  return [...new Set(checks.flatMap(({ findings }) => findings.map(({ check, kind }) => `${check}: ${kind}`)))]
}

/** One task of the bench: reads, processes, and commits or aborts. */
class BenchTask implements RecordCollector {
  readonly #bench: RunBench
  readonly #plan: SubtopologyPlan
  readonly #partition: number
  readonly #task: StreamTask
  #written: { readonly topic: string; readonly partition: number; readonly entry: BenchEntry }[] = []
  #mark = 0
  #transactions = 0

  constructor(bench: RunBench, plan: SubtopologyPlan, partition: number) {
    this.#bench = bench
    this.#plan = plan
    this.#partition = partition
    const { policies = {}, hasProvenance = true } = bench.options
    this.#task = new StreamTask(
      plan,
      partition,
      { policies, properties: bench.plan.properties },
      {
        collector: this,
        logger: SILENT_LOGGER,
        dropped: () => {},
        wallClockMs: () => 0,
        requestCommit: () => {},
        provenance: hasProvenance
          ? { transaction: () => bench.transaction, committed: input => bench.committed.get(input)?.offset ?? 0 }
          : undefined,
      },
    )
  }

  run(): void {
    const { recordsPerTransaction = 3, aborts = true } = this.#bench.options
    for (;;) {
      for (const topic of this.#topics) {
        if (!this.#task.queued(topic)) this.#feed(topic)
      }
      const processed = this.#task.process(recordsPerTransaction)
      if (processed === 0 && !this.#topics.some(topic => this.#isBehind(topic))) return
      this.#task.flush()
      this.#transactions += 1
      this.#end(aborts && this.#transactions % 3 === 0 ? 'abort' : 'commit')
    }
  }

  get #topics(): readonly string[] {
    return this.#plan.sources.flatMap(({ topics }) => topics)
  }

  #committed(topic: string): number {
    return this.#bench.committed.get({ topic, partition: this.#partition })?.offset ?? 0
  }

  #isBehind(topic: string): boolean {
    return this.#committed(topic) < this.#bench.log(topic, this.#partition).end
  }

  #feed(topic: string): void {
    const log = this.#bench.log(topic, this.#partition).observed()
    const from = this.#task.position(topic) ?? this.#committed(topic)
    this.#task.enqueue(
      topic,
      new LogBlock(
        visible(log).filter(({ offset }) => offset >= from),
        log.highWatermark,
      ),
    )
  }

  #end(marker: 'commit' | 'abort'): void {
    const { number, epoch, decidedAt } = this.#bench.nextTransaction()
    const producer = { producerId: this.#partition, producerEpoch: epoch }
    const touched = new Map<string, BenchLog>()
    for (const { topic, partition, entry } of this.#written) {
      const log = this.#bench.log(topic, partition)
      log.entries.push({ ...entry, ...producer })
      touched.set(`${topic}-${String(partition)}`, log)
    }
    for (const log of touched.values()) log.entries.push({ kind: 'marker', marker, ...producer })
    for (const topic of this.#topics) {
      const topicPartition = { topic, partition: this.#partition }
      const offset = this.#task.position(topic) ?? this.#committed(topic)
      this.#bench.commits.push({
        topicPartition,
        offset,
        metadata: 'ours',
        transaction: number,
        producerId: marker === 'commit' || this.#written.length > 0 ? this.#partition : GROUP_PRODUCER,
        producerEpoch: epoch,
        fate: marker === 'commit' ? 'committed' : 'aborted',
        decidedAt,
      })
      if (marker === 'commit') this.#bench.committed.set(topicPartition, { offset, leaderEpoch: -1, metadata: 'ours' })
    }
    this.#written = []
    this.#mark = 0
    if (marker === 'commit') this.#task.commitState()
    else this.#task.abortState()
  }

  send(
    topic: string,
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    const count = this.partitionCount()
    const target = partition ?? (key === null ? 0 : partitionForKey(key, count))
    const entry: BenchEntry = {
      kind: 'record',
      key: key === null ? null : Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      timestamp: timestamp === STAMPED_WHEN_SENT ? 77 : timestamp,
      headers,
      producerId: -1,
      producerEpoch: -1,
    }
    this.#written.push({ topic, partition: target, entry })
  }

  output(topic: string): TopicOutput {
    return outputBySending(this, topic)
  }

  partitionCount(): number {
    return this.#bench.options.partitions ?? 2
  }

  beginRecord(): void {
    this.#mark = this.#written.length
  }

  endRecord(): boolean {
    const wrote = this.#written.length > this.#mark
    this.#mark = this.#written.length
    return wrote
  }

  rollbackRecord(): void {
    this.#written.length = this.#mark
  }
}

/** Committed records of a log as one block. */
class LogBlock implements RecordSource {
  readonly raw = undefined
  readonly #records: readonly ObservedRecord[]
  readonly #end: number
  #at = -1

  constructor(records: readonly ObservedRecord[], end: number) {
    this.#records = records
    this.#end = end
  }

  next(): boolean {
    this.#at += 1
    return this.#at < this.#records.length
  }

  get offset(): number {
    return this.#record?.offset ?? -1
  }

  get timestamp(): number {
    return this.#record?.timestamp ?? -1
  }

  get hasKey(): boolean {
    return this.key !== null
  }

  get hasValue(): boolean {
    return this.value !== null
  }

  get key(): Buffer | null {
    return this.#record?.key ?? null
  }

  get value(): Buffer | null {
    return this.#record?.value ?? null
  }

  get headers(): RecordHeaders {
    return this.#record?.headers ?? NO_HEADERS
  }

  get position(): number {
    return this.#at >= this.#records.length ? this.#end : this.offset + 1
  }

  get #record(): ObservedRecord | undefined {
    return this.#records[this.#at]
  }
}
