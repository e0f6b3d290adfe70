import type { TimestampMs } from './duration.ts'

/**
 * The key of a windowed result: the original key and the window it belongs to.
 * `end` is exclusive for tumbling, hopping and sliding windows and **inclusive** for sessions, as in the JVM.
 * Kafka Streams: `Windowed<K>`.
 */
export interface Windowed<out K> {
  /** The key that was grouped by. */
  readonly key: K
  /** Start of the window in ms, inclusive. */
  readonly start: TimestampMs
  /** End of the window in ms; exclusive, but inclusive for sessions. */
  readonly end: TimestampMs
}
