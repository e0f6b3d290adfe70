import type { MillraceError } from '../../../src/model/errors.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { TopicPartitionMap, type TopicPartition } from '../../../src/model/topic-partition.ts'
import type { Fetcher, FetchedBlock } from '../../../src/kafka/fetcher/fetcher.ts'
import type { GroupEvent, GroupMember, JoinInput } from '../../../src/kafka/group/group-member.ts'
import type { GroupMembership } from '../../../src/kafka/group-membership.ts'
import type { GroupOffsets } from '../../../src/kafka/group/group-offsets.ts'
import type { OffsetAndMetadata } from '../../../src/kafka/offset-and-metadata.ts'
import type { Producer } from '../../../src/kafka/producer/producer.ts'
import type { ActiveTask } from '../../../src/engine/active-task.ts'
import { StreamTask } from '../../../src/engine/stream-task.ts'
import { TaskRegistry } from '../../../src/engine/task-registry.ts'
import { RecordCursor } from '../../../src/kafka/records/record-cursor.ts'
import { MemoryCollector } from '../../../src/testing/memory-collector.ts'
import { planApplication } from '../../../src/topology/plan-application.ts'
import type { ApplicationPlan } from '../../../src/topology/plan.ts'
import type { StreamsProperties } from '../../../src/topology/properties.ts'
import { streams } from '../../../src/topology/streams.ts'
import type { StreamsBuilder } from '../../../src/topology/streams-builder.ts'
import { encodeMarker, encodeReferenceBatch } from '../../support/reference-batches.ts'
import { FedBlock, type FedRecord } from './task-bench.ts'

/** An answer that a test prepared: a value, or an error to throw. */
export type Answer<T> = T | Error

/** Answers in the order a test gave them; the last one stays. */
export class Answers<T> {
  readonly #prepared: Answer<T>[]

  constructor(...prepared: Answer<T>[]) {
    this.#prepared = prepared
  }

  next(): T {
    const [first] = this.#prepared
    if (first === undefined) throw new Error('no answer was prepared')
    if (this.#prepared.length > 1) this.#prepared.shift()
    if (first instanceof Error) throw first
    return first
  }
}

export function planOf(
  define: (builder: StreamsBuilder) => void,
  properties: Partial<StreamsProperties> = {},
): ApplicationPlan {
  return planApplication(streams(define), { 'application.id': 'app', ...properties })
}

/** Real tasks over a collector in memory, as a stream thread would own them. */
export class TaskRoom {
  readonly plan: ApplicationPlan
  readonly registry: TaskRegistry
  readonly collector = new MemoryCollector(() => {})
  wallClockMs = 0

  constructor(define: (builder: StreamsBuilder) => void, properties: Partial<StreamsProperties> = {}) {
    this.plan = planOf(define, properties)
    this.registry = new TaskRegistry(
      this.plan,
      ({ subtopology, partition }) =>
        new StreamTask(
          subtopology,
          partition,
          { policies: {}, properties: {} },
          {
            collector: this.collector,
            logger: SILENT_LOGGER,
            dropped: () => {},
            wallClockMs: () => this.wallClockMs,
            requestCommit: () => {},
          },
        ),
    )
  }

  /** Creates the tasks of these partitions, running from the offsets that are committed. */
  running(partitions: readonly TopicPartition[], committed = 0): readonly ActiveTask[] {
    const tasks = this.registry.create(partitions)
    for (const task of tasks) {
      for (const input of task.inputs) {
        input.committed = committed
        input.rewindTo = committed
      }
      task.on('positioned')
      task.on('restored')
    }
    return tasks
  }
}

/** Hands records to a task and processes all of them. */
export function processed(task: ActiveTask, topic: string, records: readonly FedRecord[], end?: number): void {
  task.task.enqueue(topic, new FedBlock(records, end))
  task.task.process(1_000)
}

type ProducerPorts = Pick<
  Producer,
  | 'flush'
  | 'transaction'
  | 'sendOffsets'
  | 'commitTransaction'
  | 'refence'
  | 'abortTransaction'
  | 'initialize'
  | 'close'
>

/** A producer whose brokers answer as a test says; notes every call in order. */
export class FakeProducer implements ProducerPorts {
  readonly calls: string[] = []
  readonly sent: { readonly member: GroupMembership; readonly offsets: TopicPartitionMap<OffsetAndMetadata> }[] = []
  ongoing = false
  state: Producer['transaction']['state'] | undefined
  openedAtMs: number | undefined
  bytes = 0
  flushes = new Answers<'done'>('done')
  sends = new Answers<'done' | 'illegalGeneration'>('done')
  commits = new Answers<'committed' | 'unknown'>('committed')
  refences = new Answers<'ours' | 'fenced'>('ours')
  aborts = new Answers<'done'>('done')
  initializations = new Answers<'done'>('done')
  /** Runs when acknowledgements are waited for. */
  whileFlushing: () => void = () => {}
  /** Runs while the brokers think about an EndTxn. */
  whileCommitting: () => void = () => {}

  get transaction(): Producer['transaction'] {
    const { ongoing, openedAtMs, bytes } = this
    return { state: this.state ?? (ongoing ? 'open' : 'idle'), openedAtMs, records: ongoing ? 1 : 0, bytes, ongoing }
  }

  flush(): Promise<void> {
    this.whileFlushing()
    return this.#answer('flush', () => {
      this.flushes.next()
    })
  }

  sendOffsets(
    _groupId: string,
    member: GroupMembership,
    offsets: TopicPartitionMap<OffsetAndMetadata>,
  ): Promise<'done' | 'illegalGeneration'> {
    this.sent.push({ member, offsets })
    return this.#answer('sendOffsets', () => this.sends.next())
  }

  commitTransaction(): Promise<'committed' | 'unknown'> {
    return this.#answer('endTxn', () => {
      this.whileCommitting()
      return this.commits.next()
    })
  }

  refence(): Promise<'ours' | 'fenced'> {
    return this.#answer('refence', () => this.refences.next())
  }

  abortTransaction(): Promise<void> {
    return this.#answer('abort', () => {
      this.aborts.next()
    })
  }

  initialize(): Promise<void> {
    return this.#answer('initialize', () => {
      this.initializations.next()
    })
  }

  close(): Promise<void> {
    return this.#answer('close', () => undefined)
  }

  async #answer<T>(call: string, answer: () => T): Promise<T> {
    this.calls.push(call)
    await Promise.resolve()
    return answer()
  }
}

/** The place in a group that a test gives and takes. */
export class FakeMember implements Pick<GroupMember, 'membership' | 'joinOutstanding' | 'join' | 'nextEvent'> {
  membership: GroupMembership | undefined = memberIn(1)
  joinOutstanding = false
  readonly joins: JoinInput[] = []
  readonly events: GroupEvent[] = []

  join(input: JoinInput): void {
    this.joins.push(input)
  }

  nextEvent(): GroupEvent | undefined {
    return this.events.shift()
  }
}

export function memberIn(generationId: number): GroupMembership {
  return { generationId, memberId: 'm', groupInstanceId: 'i-1' }
}

/** The offsets of a group. */
export class FakeOffsets implements Pick<GroupOffsets, 'fetch' | 'commit'> {
  readonly committed = new TopicPartitionMap<OffsetAndMetadata>()
  readonly commits: TopicPartitionMap<OffsetAndMetadata>[] = []
  /** Thrown by the next calls of `fetch`, in order. */
  readonly failures: MillraceError[] = []
  commitAnswers = new Answers<'done' | 'rebalancing'>('done')
  fetches = 0
  /** Held until the test lets go. */
  gate: Promise<void> = Promise.resolve()

  async fetch(partitions: readonly TopicPartition[]): Promise<TopicPartitionMap<OffsetAndMetadata | undefined>> {
    this.fetches += 1
    await this.gate
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
    return new TopicPartitionMap(partitions.map(partition => [partition, this.committed.get(partition)] as const))
  }

  async commit(
    _member: GroupMembership,
    offsets: TopicPartitionMap<OffsetAndMetadata>,
  ): Promise<'done' | 'rebalancing'> {
    this.commits.push(offsets)
    await Promise.resolve()
    return this.commitAnswers.next()
  }
}

/** Ends of logs as a test sets them. */
export class FakeLogs {
  readonly earliest = new TopicPartitionMap<number>()
  readonly latest = new TopicPartitionMap<number>()
  readonly atTime = new TopicPartitionMap<number>()
  readonly asked: string[] = []
  /** Thrown by the next calls, in order. */
  readonly failures: MillraceError[] = []
  gate: Promise<void> = Promise.resolve()

  async listOffsets(
    partitions: readonly TopicPartition[],
    at: 'earliest' | 'latest' | { readonly timestamp: number },
    isolation: 'read_committed' | 'read_uncommitted',
  ): Promise<TopicPartitionMap<number>> {
    this.asked.push(`${typeof at === 'string' ? at : `time ${String(at.timestamp)}`} ${isolation}`)
    await this.gate
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
    const found = typeof at === 'string' ? this[at] : this.atTime
    const missing = typeof at === 'string' ? 0 : -1
    return new TopicPartitionMap(partitions.map(partition => [partition, found.get(partition) ?? missing] as const))
  }
}

/** A fetcher that gives what a test put in, and notes where reading begins. */
export class FakeFetcher implements Pick<Fetcher, 'add' | 'remove' | 'seek' | 'take' | 'takeFailure'> {
  readonly positions = new TopicPartitionMap<number>()
  readonly blocks = new TopicPartitionMap<FetchedBlock[]>()
  readonly failures: { readonly topicPartition: TopicPartition; readonly error: MillraceError }[] = []

  add(topicPartition: TopicPartition, { offset }: { readonly offset: number }): void {
    if (this.positions.has(topicPartition)) throw new Error('a partition is fetched once')
    this.positions.set(topicPartition, offset)
  }

  remove(topicPartition: TopicPartition): void {
    this.positions.delete(topicPartition)
    this.blocks.delete(topicPartition)
  }

  seek(topicPartition: TopicPartition, offset: number): void {
    this.positions.set(topicPartition, offset)
    this.blocks.delete(topicPartition)
  }

  take(topicPartition: TopicPartition): FetchedBlock | undefined {
    return this.blocks.get(topicPartition)?.shift()
  }

  takeFailure(): { readonly topicPartition: TopicPartition; readonly error: MillraceError } | undefined {
    return this.failures.shift()
  }

  /** Puts a block in, as it would come from a broker. */
  fetched(topicPartition: TopicPartition, block: FetchedBlock): void {
    this.blocks.set(topicPartition, [...(this.blocks.get(topicPartition) ?? []), block])
  }
}

/** A changelog record of a test; a `null` value is a deletion. */
export interface LoggedRecord {
  readonly offset: number
  readonly key: string | null
  readonly value: Buffer | null
}

/** A fetched block of a changelog: committed records, then, where the end is further on, markers. */
export function changelogBlock(
  topicPartition: TopicPartition,
  records: readonly LoggedRecord[],
  { markers = 0, position = 0 }: { readonly markers?: number; readonly position?: number } = {},
): FetchedBlock {
  const baseOffset = records[0]?.offset ?? position
  const lastOffset = records.at(-1)?.offset ?? position - 1
  const batches = records.length === 0 ? [] : [changelogBatch(records, baseOffset, lastOffset)]
  for (let marker = 1; marker <= markers; marker += 1) batches.push(encodeMarker(lastOffset + marker, 7, 'abort'))
  const cursor = new RecordCursor()
  cursor.reset({
    ...topicPartition,
    records: Buffer.concat(batches),
    position,
    aborted: [],
    isolation: 'read_committed',
  })
  const endOffset = lastOffset + 1 + markers
  return {
    cursor,
    endOffset,
    bytes: Buffer.concat(batches).length,
    highWatermark: endOffset,
    lastStableOffset: endOffset,
  }
}

function changelogBatch(records: readonly LoggedRecord[], baseOffset: number, lastOffset: number): Buffer {
  return encodeReferenceBatch({
    baseOffset,
    lastOffset,
    leaderEpoch: 0,
    attributes: 0x10,
    baseTimestamp: 1_000n,
    maxTimestamp: 1_000n,
    producerId: 7n,
    epoch: 0,
    baseSequence: 0,
    records: records.map(({ offset, key, value }) => ({
      offset,
      timestamp: 1_000n,
      key: key === null ? null : Buffer.from(key),
      value,
      headers: [],
    })),
  })
}
