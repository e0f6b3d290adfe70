import type { RecordHeaders } from '../model/headers.ts'
import type { CurrentRecord } from '../operators/current-record.ts'
import type { TopicOutput } from '../operators/sink.ts'
import type { SubtopologyPlan } from '../topology/plan.ts'
import { encodeProvenance, PROVENANCE_HEADER, type Provenance } from './provenance.ts'
import { outputBySending, type RecordCollector } from './record-collector.ts'
import type { ProvenancePorts, TaskPorts } from './task-ports.ts'

/** Whose records are marked. */
export interface ProvenanceOfTask {
  readonly plan: SubtopologyPlan
  readonly partition: number
  readonly task: string
  readonly record: CurrentRecord
  /** Next offset to process of an input; `undefined` until this life has read something of it. */
  readonly positionOf: (topic: string) => number | undefined
}

/** The ports of a task, its collector wrapped where provenance is asked for: decided once, when the task is built. */
export function tracedPorts(ports: TaskPorts, of: () => ProvenanceOfTask): TaskPorts {
  const { provenance, collector } = ports
  if (provenance === undefined) return ports
  return { ...ports, collector: new ProvenanceCollector(collector, provenance, of()) }
}

/** Adds to every record of a task where it comes from. A mode for tests and diagnosis: it costs an object and a JSON text per record. */
class ProvenanceCollector implements RecordCollector {
  readonly #collector: RecordCollector
  readonly #ports: ProvenancePorts
  readonly #of: ProvenanceOfTask
  readonly #storeOf: ReadonlyMap<string, string>
  readonly #inputs: readonly string[]
  #cause = ''
  #ordinal = 0
  /** Of records without a source record: nothing else tells those of one transaction apart. */
  #unsourced = -1

  constructor(collector: RecordCollector, ports: ProvenancePorts, of: ProvenanceOfTask) {
    this.#collector = collector
    this.#ports = ports
    this.#of = of
    const { stores, sources } = of.plan
    this.#storeOf = new Map(stores.map(({ changelogTopic, name }) => [changelogTopic ?? '', name]))
    this.#inputs = sources.flatMap(source => source.topics)
  }

  send(
    topic: string,
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    const mark = encodeProvenance(this.#next(topic))
    // What came along from a repartition topic is that record's own; the chain is walked through the topic.
    const marked = headers.without(PROVENANCE_HEADER).with(PROVENANCE_HEADER, mark)
    this.#collector.send(topic, partition, key, value, timestamp, marked)
  }

  output(topic: string): TopicOutput {
    return outputBySending(this, topic)
  }

  partitionCount(topic: string): number {
    return this.#collector.partitionCount(topic)
  }

  beginRecord(): void {
    this.#collector.beginRecord()
  }

  endRecord(): boolean {
    return this.#collector.endRecord()
  }

  rollbackRecord(): void {
    this.#collector.rollbackRecord()
  }

  #next(target: string): Provenance {
    const { plan, task, record } = this.#of
    const transaction = this.#ports.transaction()
    const { topic, partition, offset } = record.cause
    const cause = `${topic}/${String(offset)}/${String(transaction)}`
    if (topic === '') this.#unsourced += 1
    else this.#ordinal = cause === this.#cause ? this.#ordinal + 1 : 0
    this.#cause = cause
    return {
      application: plan.applicationId,
      task,
      operator: this.#storeOf.get(target) ?? record.node,
      transaction,
      topic,
      partition,
      offset,
      ordinal: topic === '' ? this.#unsourced : this.#ordinal,
      ...(this.#inputs.length > 1 ? { positions: this.#positions() } : {}),
    }
  }

  #positions(): Readonly<Record<string, number>> {
    const { partition, positionOf } = this.#of
    return Object.fromEntries(
      this.#inputs.map(topic => [topic, positionOf(topic) ?? this.#ports.committed({ topic, partition })]),
    )
  }
}
