import type { TimestampMs } from './duration.ts'
import type { RecordHeaders } from './headers.ts'

/** Where the record being processed came from. Kafka Streams: `RecordMetadata`. */
export interface RecordMetadata {
  /** Topic it was read from (an internal topic after a repartition). */
  readonly topic: string
  /** Partition it was read from. */
  readonly partition: number
  /** Its offset, exact up to 2^53 - 1. */
  readonly offset: number
}

/**
 * What a step may know about the record beyond key and value. The object is a view that is reused: read it during the
 * call, do not keep it. Kafka Streams: `ProcessorContext.recordMetadata()`, `timestamp()`, `headers()`.
 */
export interface RecordContext {
  /** Event time in ms. */
  readonly timestamp: TimestampMs
  /** Headers of the record. */
  readonly headers: RecordHeaders
  /** Where it came from; `undefined` for results emitted by a punctuation. */
  readonly metadata: RecordMetadata | undefined
}

/** A record inside the topology. Kafka Streams: `org.apache.kafka.streams.processor.api.Record`. */
export interface StreamRecord<out K, out V> {
  /** The key. */
  readonly key: K
  /** The value. */
  readonly value: V
  /** Event time in ms. */
  readonly timestamp: TimestampMs
  /** The headers. */
  readonly headers: RecordHeaders
}

/** What a timestamp extractor sees beside key and value. Kafka Streams: the arguments of `TimestampExtractor.extract`. */
export interface ConsumedRecordContext extends RecordContext {
  /** Where the record was read; always known at a source. */
  readonly metadata: RecordMetadata
  /** Highest timestamp seen so far on this partition, in ms; `-1` at first. */
  readonly partitionTime: TimestampMs
}
