import { StreamTask } from '../src/engine/stream-task.ts'
import { newGlobalStore } from '../src/engine/task-stores.ts'
import { outputBySending, type RecordCollector } from '../src/engine/record-collector.ts'
import { NO_HEADERS, type RecordHeaders } from '../src/model/headers.ts'
import { SILENT_LOGGER } from '../src/model/logger.ts'
import type { RecordSource } from '../src/model/record-source.ts'
import type { TopicOutput } from '../src/operators/sink.ts'
import type { KeyValueState } from '../src/stores/key-value-state.ts'
import { planApplication } from '../src/topology/plan-application.ts'
import type { Topology } from '../src/topology/topology.ts'

/** A record as it lies in a topic. */
interface LoggedRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly timestamp: number
  readonly headers: RecordHeaders
}

/** Records of one topic that nobody has read yet. */
class Batch implements RecordSource {
  readonly #records: readonly LoggedRecord[]
  readonly #firstOffset: number
  #at = -1
  #record: LoggedRecord = { key: null, value: null, timestamp: -1, headers: NO_HEADERS }

  constructor(records: readonly LoggedRecord[], firstOffset: number) {
    this.#records = records
    this.#firstOffset = firstOffset
  }

  next(): boolean {
    this.#at += 1
    const record = this.#records[this.#at]
    if (record === undefined) return false
    this.#record = record
    return true
  }

  get offset(): number {
    return this.#firstOffset + this.#at
  }

  get position(): number {
    return this.#firstOffset + Math.min(this.#at, this.#records.length)
  }

  get timestamp(): number {
    return this.#record.timestamp
  }

  readonly raw = undefined

  get hasKey(): boolean {
    return this.#record.key !== null
  }

  get hasValue(): boolean {
    return this.#record.value !== null
  }

  get key(): Buffer | null {
    return this.#record.key
  }

  get value(): Buffer | null {
    return this.#record.value
  }

  get headers(): RecordHeaders {
    return this.#record.headers
  }
}

/** Takes what tasks send: copies it for topics that are read again, as a producer copies it, and counts the rest. */
class BenchCollector implements RecordCollector {
  readonly waiting = new Map<string, LoggedRecord[]>()
  /** Records for the topics of others. */
  written = 0

  send(
    topic: string,
    _partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    const waiting = this.waiting.get(topic)
    if (waiting === undefined) this.written += 1
    else waiting.push({ key: copyOf(key), value: copyOf(value), timestamp, headers })
  }

  output(topic: string): TopicOutput {
    return outputBySending(this, topic)
  }

  partitionCount(): number {
    return 1
  }

  beginRecord(): void {}

  endRecord(): boolean {
    return true
  }

  rollbackRecord(): void {
    throw new Error('a measured record failed')
  }
}

/** The tasks of a topology with stores in memory, fed block by block; each block ends with a commit. */
export class BenchRun {
  readonly #collector = new BenchCollector()
  readonly #tasks: readonly { readonly task: StreamTask; readonly topics: readonly string[] }[]
  readonly #globals = new Map<string, KeyValueState>()
  readonly #lengths = new Map<string, number>()

  constructor(topology: Topology) {
    const plan = planApplication(topology, { 'application.id': 'bench' })
    for (const table of plan.globalTables) this.#globals.set(table.topic, newGlobalStore(table))
    const sharedGlobals = new Map([...this.#globals.values()].map(store => [store.name, store]))
    this.#tasks = plan.subtopologies.map(subtopology => {
      const topics = subtopology.sources.flatMap(source => source.topics)
      for (const topic of topics) this.#collector.waiting.set(topic, [])
      const ports = {
        collector: this.#collector,
        logger: SILENT_LOGGER,
        dropped: () => {},
        wallClockMs: () => 0,
        requestCommit: () => {},
      }
      const options = { policies: {}, properties: plan.properties, sharedGlobals }
      return { task: new StreamTask(subtopology, 0, options, ports), topics }
    })
  }

  /** Records written to topics that the topology does not read, changelogs among them. */
  get written(): number {
    return this.#collector.written
  }

  /** Appends a record to an input topic. */
  append(topic: string, key: Buffer, value: Buffer, timestamp: number): void {
    const global = this.#globals.get(topic)
    if (global !== undefined) global.restore(key, value, timestamp, NO_HEADERS)
    else this.#collector.waiting.get(topic)?.push({ key, value, timestamp, headers: NO_HEADERS })
  }

  /** Processes everything that was appended and all that follows from it, and commits. */
  process(): void {
    while (this.#enqueue()) {
      for (const { task } of this.#tasks) task.process(Number.MAX_SAFE_INTEGER)
    }
    for (const { task } of this.#tasks) {
      task.flush()
      task.commitState()
    }
  }

  close(): void {
    for (const { task } of this.#tasks) task.close()
  }

  #enqueue(): boolean {
    let some = false
    for (const { task, topics } of this.#tasks) {
      for (const topic of topics) {
        const records = this.#collector.waiting.get(topic) ?? []
        if (records.length === 0) continue
        const offset = this.#lengths.get(topic) ?? 0
        this.#lengths.set(topic, offset + records.length)
        this.#collector.waiting.set(topic, [])
        task.enqueue(topic, new Batch(records, offset))
        some = true
      }
    }
    return some
  }
}

function copyOf(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes)
}
