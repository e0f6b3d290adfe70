import type { RecordHeaders } from '../model/headers.ts'
import type { TopicOutput } from '../operators/sink.ts'

/** Takes what a task writes: the producer's accumulator, or the test driver's list. Kafka Streams: `RecordCollector`. */
export interface RecordCollector {
  /**
   * Appends one record; key and value are copied before it returns.
   *
   * @param timestamp - in ms; `STAMPED_WHEN_SENT` for the present time
   * @param partition - `undefined` for Java's default: murmur2 of the key's bytes, or any partition for a null key
   * @throws MillraceError `RECORD_TOO_LARGE`, `PARTITION_OUT_OF_RANGE`
   * @throws UnresolvedTopic
   */
  send(
    topic: string,
    partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void
  /** What `send` does for one topic: asked for once, when a task is built. The topic may become known later. */
  output(topic: string): TopicOutput
  /** How many partitions a topic has. @throws UnresolvedTopic */
  partitionCount(topic: string): number
  /** Sets the savepoint of a record. */
  beginRecord(): void
  /** Keeps what was sent since the savepoint; returns whether anything was. */
  endRecord(): boolean
  /** Forgets what was sent since the savepoint. */
  rollbackRecord(): void
}

/** The way to one topic, for a collector that knows no shorter one than its `send`. */
export function outputBySending(
  collector: Pick<RecordCollector, 'send' | 'partitionCount'>,
  topic: string,
): TopicOutput {
  return {
    get partitionsKnown() {
      return collector.partitionCount(topic)
    },
    send: (partition, key, value, timestamp, headers) => {
      collector.send(topic, partition, key, value, timestamp, headers)
    },
    sendSource: ({ key, value, headers }, timestamp) => {
      collector.send(topic, undefined, key, value, timestamp, headers)
    },
  }
}

/**
 * A record goes to a topic that a step chose and nobody has looked up yet. The task puts the record back; the caller looks
 * the topic up and calls `process` again.
 */
export class UnresolvedTopic extends Error {
  override readonly name = 'UnresolvedTopic'
  readonly topic: string

  constructor(topic: string) {
    super(`the topic ${topic} has not been looked up yet`)
    this.topic = topic
  }
}
