import type { RecordHeaders } from '../model/headers.ts'

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
  /** How many partitions a topic has. @throws UnresolvedTopic */
  partitionCount(topic: string): number
  /** Sets the savepoint of a record. */
  beginRecord(): void
  /** Keeps what was sent since the savepoint. */
  endRecord(): void
  /** Forgets what was sent since the savepoint. */
  rollbackRecord(): void
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
