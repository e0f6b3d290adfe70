import type { RecordHeaders } from '../model/headers.ts'
import type { StateStore } from './state-store.ts'

/** Where a held update comes from. Kafka Streams: `ProcessorRecordContext`. */
export interface UpdateContext {
  readonly timestamp: number
  readonly headers: RecordHeaders
  /** Topic of the record that caused it; empty in a punctuation. */
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** An update that is held back. */
export interface HeldUpdate {
  /** Bytes of the key. */
  readonly key: Buffer
  /** The new value; `null` for a deletion. */
  readonly value: unknown
  /** The value before, as the last update of the key had it. */
  readonly old: unknown
  readonly context: UpdateContext
}

/**
 * The buffer of a suppress: updates of a table, one per key, in the order of their time and then of their keys' bytes. An
 * update of a key that is held takes the place of the one before. Kafka Streams: `InMemoryTimeOrderedKeyValueChangeBuffer`.
 */
export interface SuppressState extends StateStore {
  readonly kind: 'suppress'
  /** Lowest time of a held update, in ms; infinite without one. */
  readonly firstTime: number
  /** Bytes of the held updates as the JVM counts them, contexts included: what `maxBytes` bounds. */
  readonly heldBytes: number
  /**
   * Holds an update.
   *
   * @param time - decides the place of a key that is not held yet
   * @throws whatever the serde throws, before anything is changed
   */
  put(key: Uint8Array, time: number, value: unknown, old: unknown, context: UpdateContext): void
  /** The first update; `undefined` when none is held. */
  first(): HeldUpdate | undefined
  /** Takes the first update out. */
  removeFirst(): void
  /** Whether an update of the key is held; `priorOf` then tells what is visible downstream. */
  holds(key: Uint8Array): boolean
  /** The value that was visible downstream when the key was first held; `null` when there was none. */
  priorOf(key: Uint8Array): unknown
  /** Writes the keys that changed since the last call to the changelog: the JVM does so only at a commit. */
  flush(): void
}
