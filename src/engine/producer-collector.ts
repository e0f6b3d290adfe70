import { counted } from '../model/counted.ts'
import type { Clock } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import type { RecordHeaders } from '../model/headers.ts'
import { murmur2Within, partitionForHash, partitionForKey } from '../model/murmur2.ts'
import type { RecordSource } from '../model/record-source.ts'
import type { RecordAppender, TopicBuffers } from '../kafka/producer/accumulator.ts'
import type { Producer } from '../kafka/producer/producer.ts'
import type { TopicOutput } from '../operators/sink.ts'
import type { PreparedTopics } from './topic-preparation.ts'
import { STAMPED_WHEN_SENT } from '../stores/changelog.ts'
import { UnresolvedTopic, type RecordCollector } from './record-collector.ts'

/** Bytes after which records without a key move on to the next partition, so that batches fill up. Kafka: the built-in sticky partitioner's `batch.size`. */
const STICKY_BYTES = 262_144

/** The part of a producer that records are written with. */
type AppendingProducer = Pick<Producer, 'records' | 'register'>

/** Sends what tasks write to the producer: chooses the partition as Java's default does. Kafka Streams: `RecordCollectorImpl`. */
export class ProducerCollector implements RecordCollector {
  readonly #producer: AppendingProducer
  readonly #records: RecordAppender
  readonly #clock: Pick<Clock, 'wallClockMs'>
  readonly #topics = new Map<string, ProducerTopic>()

  constructor(producer: AppendingProducer, topics: PreparedTopics, clock: Pick<Clock, 'wallClockMs'>) {
    this.#producer = producer
    this.#records = producer.records
    this.#clock = clock
    for (const [topic, maxMessageBytes] of topics.maxMessageBytes) {
      this.register(topic, topics.partitions.get(topic) ?? 0, maxMessageBytes)
    }
  }

  /** Makes a topic known; `maxMessageBytes` is its `max.message.bytes`. */
  register(topic: string, partitions: number, maxMessageBytes: number): void {
    this.output(topic).partitions = partitions
    this.#producer.register(topic, { maxMessageBytes })
  }

  /** The topics that may be written to. */
  get topics(): readonly string[] {
    return [...this.#topics.values()].filter(({ partitions }) => partitions > 0).map(({ topic }) => topic)
  }

  output(topic: string): ProducerTopic {
    const known = this.#topics.get(topic)
    if (known !== undefined) return known
    const output = new ProducerTopic(this.#records, topic, this.#clock)
    this.#topics.set(topic, output)
    return output
  }

  partitionCount(topic: string): number {
    return this.output(topic).partitionsKnown
  }

  send(
    topic: string,
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    this.output(topic).send(partition, key, value, timestamp, headers)
  }

  beginRecord(): void {
    this.#records.beginRecord()
  }

  endRecord(): boolean {
    return this.#records.endRecord()
  }

  rollbackRecord(): void {
    this.#records.rollbackRecord()
  }
}

/** The way to one topic. */
class ProducerTopic implements TopicOutput {
  readonly topic: string
  /** 0 until it is known. */
  partitions = 0
  readonly #records: RecordAppender
  readonly #clock: Pick<Clock, 'wallClockMs'>
  /** Asked for with the first record: the topic's limits are known by then. */
  #buffers: TopicBuffers | undefined
  #stickyPartition = 0
  #stickyBytes = 0

  constructor(records: RecordAppender, topic: string, clock: Pick<Clock, 'wallClockMs'>) {
    this.#records = records
    this.topic = topic
    this.#clock = clock
  }

  get partitionsKnown(): number {
    if (this.partitions === 0) throw new UnresolvedTopic(this.topic)
    return this.partitions
  }

  send(
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    const partitions = this.partitionsKnown
    let target = partition
    if (target === undefined) {
      target = key === null ? this.#spread(value?.length ?? 0) : partitionForKey(key, partitions)
    } else if (target < 0 || target >= partitions) {
      throw new MillraceError('PARTITION_OUT_OF_RANGE', {
        topic: this.topic,
        what: `Partition ${String(target)} was chosen for a topic with ${counted(partitions, 'partition')}.`,
      })
    }
    const stamp = timestamp === STAMPED_WHEN_SENT ? this.#clock.wallClockMs() : timestamp
    this.#buffers ??= this.#records.topic(this.topic)
    this.#records.append(this.#buffers, target, key, value, stamp, headers)
  }

  sendSource(source: RecordSource, timestamp: number): void {
    const { raw } = source
    if (raw === undefined) {
      this.send(undefined, source.key, source.value, timestamp, source.headers)
      return
    }
    const partitions = this.partitionsKnown
    const { keyBytes } = raw
    const target =
      keyBytes < 0
        ? this.#spread(Math.max(0, raw.valueBytes))
        : partitionForHash(murmur2Within(raw.batchView, raw.keyAt, keyBytes), partitions)
    this.#buffers ??= this.#records.topic(this.topic)
    this.#records.appendRaw(this.#buffers, target, raw, timestamp)
  }

  #spread(bytes: number): number {
    this.#stickyBytes += bytes
    if (this.#stickyBytes > STICKY_BYTES) {
      this.#stickyBytes = 0
      this.#stickyPartition = (this.#stickyPartition + 1) % this.partitions
    }
    return this.#stickyPartition
  }
}
