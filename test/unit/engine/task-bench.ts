import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { NO_HEADERS, type RecordHeaders } from '../../../src/model/headers.ts'
import type { DropReason, ErrorPolicies, RecordFailure, RecordReaction } from '../../../src/model/record-failure.ts'
import type { RecordSource } from '../../../src/model/record-source.ts'
import { StreamTask } from '../../../src/engine/stream-task.ts'
import { UnresolvedTopic } from '../../../src/engine/record-collector.ts'
import type { TaskPorts } from '../../../src/engine/task-ports.ts'
import { MemoryCollector } from '../../../src/testing/memory-collector.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'

/** A record to feed in; offsets are given in order from `offset`. */
export interface FedRecord {
  readonly key?: string | null
  readonly value?: string | null
  readonly timestamp?: number
  readonly offset?: number
  readonly headers?: RecordHeaders
}

/** A task of the first subtopology over a collector in memory. */
export class TaskBench {
  readonly task: StreamTask
  readonly collector: MemoryCollector
  readonly dropped: DropReason[] = []
  readonly failures: { readonly failure: RecordFailure; readonly reaction: RecordReaction }[] = []
  readonly unresolved = new Set<string>()
  wallClockMs = 0
  commitsAsked = 0

  constructor(
    define: (builder: StreamsBuilder) => void,
    policies: ErrorPolicies = {},
    ports: Partial<Pick<TaskPorts, 'idle' | 'dropped' | 'timed'>> = {},
    properties: Partial<StreamsProperties> = {},
  ) {
    const { unresolved } = this
    this.collector = new (class extends MemoryCollector {
      override send(...sent: Parameters<MemoryCollector['send']>): void {
        if (unresolved.has(sent[0])) throw new UnresolvedTopic(sent[0])
        super.send(...sent)
      }
    })(() => {})
    const plan = planApplication(streams(define), { ...properties, 'application.id': 'app' })
    const [subtopology] = plan.subtopologies
    if (subtopology === undefined) throw new Error('the graph has no subtopology')
    this.task = new StreamTask(
      subtopology,
      3,
      { policies, properties: {} },
      {
        collector: this.collector,
        logger: SILENT_LOGGER,
        dropped: reason => this.dropped.push(reason),
        wallClockMs: () => this.wallClockMs,
        requestCommit: () => {
          this.commitsAsked += 1
        },
        failed: (failure, reaction) => this.failures.push({ failure, reaction }),
        ...ports,
      },
    )
  }

  feed(topic: string, records: readonly FedRecord[], end?: number): void {
    this.task.enqueue(topic, new FedBlock(records, end))
  }

  /** What was sent to a topic, as text. */
  sent(topic: string): (readonly [key: string | null, value: string | null, timestamp: number])[] {
    return this.collector.sent
      .filter(record => record.topic === topic)
      .map(({ key, value, timestamp }) => [key?.toString() ?? null, value?.toString() ?? null, timestamp])
  }
}

/** A block of records in memory. */
export class FedBlock implements RecordSource {
  readonly #records: readonly FedRecord[]
  readonly #end: number
  #at = -1

  constructor(records: readonly FedRecord[], end?: number) {
    this.#records = records
    this.#end = end ?? (records.at(-1)?.offset ?? records.length - 1) + 1
  }

  next(): boolean {
    this.#at += 1
    return this.#at < this.#records.length
  }

  get offset(): number {
    return this.#records[this.#at]?.offset ?? this.#at
  }

  get timestamp(): number {
    return this.#records[this.#at]?.timestamp ?? 0
  }

  readonly raw = undefined

  get hasKey(): boolean {
    return this.key !== null
  }

  get hasValue(): boolean {
    return this.value !== null
  }

  get key(): Buffer | null {
    return bytesOf(this.#records[this.#at]?.key)
  }

  get value(): Buffer | null {
    return bytesOf(this.#records[this.#at]?.value)
  }

  get headers(): RecordHeaders {
    return this.#records[this.#at]?.headers ?? NO_HEADERS
  }

  get position(): number {
    return this.#at >= this.#records.length ? this.#end : this.offset + 1
  }
}

function bytesOf(text: string | null | undefined): Buffer | null {
  return text === null || text === undefined ? null : Buffer.from(text)
}
