import type { AggregateState } from './key-value-state.ts'
import type { VersionedState, VersionEnd } from './versioned-state.ts'

/**
 * A store with versions as an aggregation works with it: it reads the latest value of a key and puts the next one, whose time
 * is never before the one it was made from. Kafka Streams: `KeyValueStoreWrapper`.
 */
export class LatestVersions implements AggregateState {
  readonly #state: VersionedState
  #lastTimestamp = -1
  #lastEnd: VersionEnd = 'latest'

  constructor(state: VersionedState) {
    this.#state = state
  }

  get lastTimestamp(): number {
    return this.#lastTimestamp
  }

  /** What became of the last put. */
  get lastEnd(): VersionEnd {
    return this.#lastEnd
  }

  get(key: Uint8Array): unknown {
    const value = this.#state.get(key)
    this.#lastTimestamp = value === undefined ? -1 : this.#state.lastTimestamp
    return value
  }

  put(key: Uint8Array, value: unknown, timestamp: number): void {
    // A deletion, too, holds from the later of both times; a store without versions logs it under the record's.
    this.#lastEnd = this.#state.put(key, value, Math.max(timestamp, this.#lastTimestamp))
  }
}
