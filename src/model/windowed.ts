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

/** A windowed key as the engine makes it; recognised by its class, whatever the inner key is. */
export class WindowedKey<out K> implements Windowed<K> {
  readonly key: K
  readonly start: TimestampMs
  readonly end: TimestampMs

  constructor(key: K, start: TimestampMs, end: TimestampMs) {
    this.key = key
    this.start = start
    this.end = end
  }
}
