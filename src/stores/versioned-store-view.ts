import { NO_HEADERS } from '../model/headers.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import type { VersionedKeyValueStore, VersionedRecord } from './store-types.ts'
import type { VersionedState, VersionEnd } from './versioned-state.ts'

/** What a user's versioned store needs beside its state. */
export interface VersionedStoreViewOptions {
  readonly state: VersionedState
  readonly key: AnySerde
}

/** A versioned store as user code sees it: typed keys over a store of bytes. Kafka Streams: `MeteredVersionedKeyValueStore`. */
export class VersionedStoreView implements VersionedKeyValueStore<unknown, unknown> {
  readonly #state: VersionedState
  readonly #key: ErasedSerde
  readonly #context: SerdeContext

  constructor({ state, key }: VersionedStoreViewOptions) {
    this.#state = state
    this.#key = erasedSerde(key)
    this.#context = { topic: state.changelogTopic ?? state.name, side: 'key', headers: NO_HEADERS }
  }

  get(key: unknown, asOf?: number): VersionedRecord<unknown> | undefined {
    const bytes = this.#bytesOf(key)
    const value = asOf === undefined ? this.#state.get(bytes) : this.#state.getAsOf(bytes, asOf)
    return value === undefined
      ? undefined
      : { value, timestamp: this.#state.lastTimestamp, validTo: this.#state.lastValidTo }
  }

  put(key: unknown, value: unknown, timestamp: number): VersionEnd {
    return this.#state.put(this.#bytesOf(key), value ?? null, timestamp)
  }

  delete(key: unknown, timestamp: number): VersionedRecord<unknown> | undefined {
    const held = this.get(key, timestamp)
    this.put(key, null, timestamp)
    return held
  }

  #bytesOf(key: unknown): Uint8Array {
    if (key === null || key === undefined) throw new TypeError(`the key of an entry of ${this.#state.name} is null`)
    return this.#key.serialize(key, this.#context)
  }
}
