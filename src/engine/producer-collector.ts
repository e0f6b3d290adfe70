import type { Clock } from '../model/clock.ts'
import { MillraceError } from '../model/errors.ts'
import type { RecordHeaders } from '../model/headers.ts'
import { partitionForKey } from '../model/murmur2.ts'
import type { Producer } from '../kafka/producer/producer.ts'
import type { PreparedTopics } from './topic-preparation.ts'
import { STAMPED_WHEN_SENT } from '../stores/changelog.ts'
import { UnresolvedTopic, type RecordCollector } from './record-collector.ts'

/** Bytes after which records without a key move on to the next partition, so that batches fill up. Kafka: the built-in sticky partitioner's `batch.size`. */
const STICKY_BYTES = 262_144

interface WrittenTopic {
  readonly partitions: number
  stickyPartition: number
  stickyBytes: number
}

/** The part of a producer that records are written with. */
type AppendingProducer = Pick<Producer, 'append' | 'register' | 'beginRecord' | 'endRecord' | 'rollbackRecord'>

/** Sends what tasks write to the producer: chooses the partition as Java's default does. Kafka Streams: `RecordCollectorImpl`. */
export class ProducerCollector implements RecordCollector {
  readonly #producer: AppendingProducer
  readonly #clock: Pick<Clock, 'wallClockMs'>
  readonly #topics = new Map<string, WrittenTopic>()

  constructor(producer: AppendingProducer, topics: PreparedTopics, clock: Pick<Clock, 'wallClockMs'>) {
    this.#producer = producer
    this.#clock = clock
    for (const [topic, maxMessageBytes] of topics.maxMessageBytes) {
      this.register(topic, topics.partitions.get(topic) ?? 0, maxMessageBytes)
    }
  }

  /** Makes a topic known; `maxMessageBytes` is its `max.message.bytes`. */
  register(topic: string, partitions: number, maxMessageBytes: number): void {
    this.#topics.set(topic, { partitions, stickyPartition: 0, stickyBytes: 0 })
    this.#producer.register(topic, { maxMessageBytes })
  }

  /** The topics that may be written to. */
  get topics(): Iterable<string> {
    return this.#topics.keys()
  }

  partitionCount(topic: string): number {
    return this.#topic(topic).partitions
  }

  send(
    topic: string,
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    const written = this.#topic(topic)
    let target = partition
    if (target === undefined) {
      target = key === null ? spread(written, value) : partitionForKey(key, written.partitions)
    } else if (target < 0 || target >= written.partitions) {
      throw new MillraceError('PARTITION_OUT_OF_RANGE', {
        topic,
        what: `Partition ${String(target)} was chosen for a topic with ${String(written.partitions)} partitions.`,
      })
    }
    const stamp = timestamp === STAMPED_WHEN_SENT ? this.#clock.wallClockMs() : timestamp
    this.#producer.append(topic, target, key, value, stamp, headers)
  }

  beginRecord(): void {
    this.#producer.beginRecord()
  }

  endRecord(): void {
    this.#producer.endRecord()
  }

  rollbackRecord(): void {
    this.#producer.rollbackRecord()
  }

  #topic(topic: string): WrittenTopic {
    const written = this.#topics.get(topic)
    if (written === undefined) throw new UnresolvedTopic(topic)
    return written
  }
}

function spread(topic: WrittenTopic, value: Uint8Array | null): number {
  topic.stickyBytes += value?.length ?? 0
  if (topic.stickyBytes > STICKY_BYTES) {
    topic.stickyBytes = 0
    topic.stickyPartition = (topic.stickyPartition + 1) % topic.partitions
  }
  return topic.stickyPartition
}
