import { STAMPED_WHEN_SENT } from '../stores/changelog.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import { MillraceError, reasonOf } from '../model/errors.ts'
import { SILENT_LOGGER } from '../model/logger.ts'
import type { RecordHeaders } from '../model/headers.ts'
import { HeldRecordSource } from '../model/held-record-source.ts'
import { PROVENANCE_HEADER } from '../engine/provenance.ts'
import { outputBySending, type RecordCollector } from '../engine/record-collector.ts'
import type { TopicOutput } from '../operators/sink.ts'
import { StreamTask } from '../engine/stream-task.ts'
import { newGlobalStore } from '../engine/task-stores.ts'
import { javaPartition } from './java-partition.ts'
import { type ObservedRecord, visible } from './observed-log.ts'
import type { RunObservation } from './run-observation.ts'
import { consumptionOrder, type Consumption } from './consumption-order.ts'
import { type MarkedRecord, placeOf, type TaskView } from './task-view.ts'

/** A record the application has to have written. */
export interface ExpectedRecord {
  readonly topic: string
  /** `undefined`: any, because the record has no key. */
  readonly partition: number | undefined
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** `undefined`: stamped when it was sent. */
  readonly timestamp: number | undefined
  /** Without provenance. */
  readonly headers: RecordHeaders
  /** The source record it follows from. */
  readonly cause: ObservedRecord
}

/** What a task has to have done with its input below C. */
export interface ModelRun {
  readonly task: TaskView
  /** In the order of writing; empty where there are obstacles. */
  readonly written: readonly ExpectedRecord[]
  /** Records that a policy sent to the dead letters. */
  readonly refused: readonly ObservedRecord[]
  readonly obstacles: readonly string[]
  /** What a policy stopped the model at, though the application has committed past it. */
  readonly failure: string | undefined
}

/**
 * Runs one task over its committed input, in the order in which the application took it, in the same graph but with
 * another collector and another partitioner, and without any transaction: what it writes is what has to be visible.
 */
export function runModel(run: RunObservation, task: TaskView, marked: readonly MarkedRecord[]): ModelRun {
  const obstacles = [...task.obstacles]
  const collector = new ModelCollector(run)
  const model = newTask(run, task, collector)
  try {
    model.begin()
    const needsCommits = holdsBack(task)
    const commits = run.offsetHistory?.isComplete === true ? run.offsetHistory : undefined
    if (needsCommits && commits === undefined) {
      obstacles.push(`task ${task.id} holds results back until commits, and the log of commits cannot be read whole`)
    }
    if (model.nextPunctuationMs !== undefined) obstacles.push(`task ${task.id} has wall-clock punctuations`)
    if (task.inputs.length > 1 && !run.application.hasProvenance) {
      obstacles.push(
        `task ${task.id} reads ${String(task.inputs.length)} inputs, and without provenance.headers nobody knows in which order`,
      )
    }
    if (obstacles.length > 0) return { task, written: [], refused: [], obstacles, failure: undefined }
    // Of several inputs the commits tell how far each was read, where no result does.
    const order = consumptionOrder(task, marked, needsCommits || task.inputs.length > 1 ? commits : undefined)
    const failure = replay(model, order, collector)
    return { task, written: collector.written, refused: collector.refused, obstacles, failure }
  } finally {
    model.close()
  }
}

/** @returns what stopped it */
function replay(model: StreamTask, order: readonly Consumption[], collector: ModelCollector): string | undefined {
  try {
    for (const step of order) {
      if (step.kind === 'commit') {
        model.flush()
        model.commitState()
        continue
      }
      const { record } = step
      collector.cause = record
      model.enqueue(record.topic, new SingleRecord(record))
      // The model runs on the engine's own task: one that passes records over would do so here as well.
      if (model.process(1) !== 1) return `it passes ${placeOf(record)} over`
    }
    model.flush()
  } catch (thrown) {
    return reasonOf(thrown)
  }
  return undefined
}

/** Caches and buffers write at commits; what they write depends on when these were. */
function holdsBack({ plan }: TaskView): boolean {
  return plan.stores.some(({ cacheBytes, kind }) => cacheBytes > 0 || kind === 'suppress')
}

function newTask(run: RunObservation, task: TaskView, collector: ModelCollector): StreamTask {
  const { plan, policies } = run.application
  return new StreamTask(
    task.plan,
    task.partition,
    { policies, properties: plan.properties, sharedGlobals: globalsOf(run) },
    {
      collector,
      logger: SILENT_LOGGER,
      dropped: () => {},
      wallClockMs: () => 0,
      requestCommit: () => {},
      failed: (_failure, reaction) => {
        // The task has taken back what the record wrote; were that broken, the model must not be.
        collector.rollbackRecord()
        if (reaction === 'deadLetter' && collector.cause !== undefined) collector.refused.push(collector.cause)
      },
    },
  )
}

/** Global tables as they are at the end. */
function globalsOf(run: RunObservation): ReadonlyMap<string, KeyValueState> {
  const globals = new Map<string, KeyValueState>()
  for (const table of run.application.plan.globalTables) {
    const store = newGlobalStore(table)
    for (const log of run.logs.of(table.topic)) {
      for (const { key, value, timestamp, headers } of visible(log)) {
        if (key !== null) store.restore(key, value, timestamp, headers)
      }
    }
    globals.set(store.name, store)
  }
  return globals
}

/** Keeps what the model writes. */
class ModelCollector implements RecordCollector {
  readonly written: ExpectedRecord[] = []
  readonly refused: ObservedRecord[] = []
  readonly #run: RunObservation
  #mark = 0
  cause: ObservedRecord | undefined

  constructor(run: RunObservation) {
    this.#run = run
  }

  send(
    topic: string,
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    const { cause } = this
    if (cause === undefined) throw new MillraceError('INTERNAL', { what: 'The model writes before it has read.' })
    this.#checkSize(topic, key, value, headers)
    const chosen = partition ?? (key === null ? undefined : javaPartition(key, this.partitionCount(topic)))
    this.written.push({
      topic,
      partition: chosen,
      key: key === null ? null : Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      timestamp: timestamp === STAMPED_WHEN_SENT ? undefined : timestamp,
      headers: headers.without(PROVENANCE_HEADER),
      cause,
    })
  }

  output(topic: string): TopicOutput {
    return outputBySending(this, topic)
  }

  partitionCount(topic: string): number {
    const count = this.#run.logs.of(topic).length
    // A topic that is gone, or was never made: whatever had to be in it is lost, and the comparison says so.
    return count === 0 ? 1 : count
  }

  beginRecord(): void {
    this.#mark = this.written.length
  }

  endRecord(): boolean {
    const wrote = this.written.length > this.#mark
    this.#mark = this.written.length
    return wrote
  }

  rollbackRecord(): void {
    this.written.length = this.#mark
  }

  #checkSize(topic: string, key: Uint8Array | null, value: Uint8Array | null, headers: RecordHeaders): void {
    const limit = this.#run.maxMessageBytes?.get(topic)
    if (limit === undefined) return
    let bytes = BATCH_BYTES + (key?.length ?? 0) + (value?.length ?? 0)
    for (const [name, held] of headers) bytes += Buffer.byteLength(name) + (held?.length ?? 0)
    if (bytes > limit)
      throw new MillraceError('RECORD_TOO_LARGE', { topic, what: `A record of ${String(bytes)} bytes.` })
  }
}

/** Header of a batch. Kafka: `DefaultRecordBatch.RECORD_BATCH_OVERHEAD`. */
const BATCH_BYTES = 61

/** A block of one record. */
class SingleRecord extends HeldRecordSource {
  protected override readonly record: ObservedRecord
  #isRead = false

  constructor(record: ObservedRecord) {
    super()
    this.record = record
  }

  next(): boolean {
    if (this.#isRead) return false
    this.#isRead = true
    return true
  }

  get offset(): number {
    return this.record.offset
  }

  get position(): number {
    return this.record.offset + 1
  }
}
