import type { TimestampMs } from './duration.ts'
import type { RecordHeaders } from './headers.ts'
import type { RecordMetadata } from './record.ts'

/** What happens to a record that fails: stop the thread, drop it (counted, logged), or write it to the dead-letter topic. Kafka Streams: `Result.FAIL | RESUME`. */
export type RecordReaction = 'stop' | 'skip' | 'deadLetter'

/** Where a record failed. */
export type FailurePhase = 'deserialization' | 'processing' | 'production'

/** A record that failed, as an error policy function sees it. Kafka Streams: `ErrorHandlerContext` with the exception. */
export interface RecordFailure {
  /** Where it failed. */
  readonly phase: FailurePhase
  /** What was thrown. */
  readonly cause: unknown
  /** Name of the source, operator or sink that failed. */
  readonly node: string
  /** Source record of the failing work; `undefined` in a punctuation. */
  readonly metadata: RecordMetadata | undefined
  /** Event time of that record in ms. */
  readonly timestamp: TimestampMs
  /** Its headers. */
  readonly headers: RecordHeaders
  /** Its raw key as read. */
  readonly rawKey: Uint8Array | null
  /** Its raw value as read. */
  readonly rawValue: Uint8Array | null
}

/** A fixed reaction, or a synchronous function that chooses one per record. Kafka Streams: the three exception-handler interfaces. */
export type ErrorPolicy = RecordReaction | ((failure: RecordFailure) => RecordReaction)

/** The policies of an application or of one source. Kafka Streams: `deserialization.`, `processing.`, `production.exception.handler`. */
export interface ErrorPolicies {
  /** Bytes that the serde refuses, a null where none was declared. @default 'stop' */
  deserialization?: ErrorPolicy
  /** A user function or an expression that throws, a promise returned by a step. @default 'stop' */
  processing?: ErrorPolicy
  /** A record that cannot be written: not serializable, too large, refused by the broker. @default 'stop' */
  production?: ErrorPolicy
  /** Where dead letters go, in the same transaction; needed when a policy is or may return `'deadLetter'`. Kafka Streams: `errors.dead.letter.queue.topic.name`. */
  deadLetterTopic?: string
}

/** Why a record was dropped without being an error; the `reason` label of `millrace_dropped_records_total`. Kafka Streams: `dropped-records-total`. */
export type DropReason =
  | 'late'
  | 'nullKey'
  | 'nullValue'
  | 'negativeTimestamp'
  | 'skipped'
  | 'deadLettered'
  | 'duplicate'
  | 'windowNeverEmitted'
  | 'outOfOrderVersion'
  | 'staleResponse'
  | 'partitionerNone'
  | 'undelivered'
