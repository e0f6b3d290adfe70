import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import { NO_HEADERS } from '../model/headers.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import type { KeyRange, KeyValueEntry, KeyValueState } from './key-value-state.ts'
import type { Entry, KeyValueStore, ValueAndTimestamp } from './store-types.ts'

/** What a user's store needs beside its state. */
export interface KeyValueViewOptions {
  readonly state: KeyValueState
  readonly key: AnySerde
  /** Time of a write that carries none: that of the record being processed. */
  readonly nowMs: () => number
}

/** A key-value store as user code sees it: typed keys over a store of bytes. Kafka Streams: `MeteredKeyValueStore`. */
abstract class KeyValueView<V> implements KeyValueStore<unknown, V> {
  protected readonly state: KeyValueState
  readonly #key: ErasedSerde
  readonly #context: SerdeContext
  protected readonly nowMs: () => number

  constructor({ state, key, nowMs }: KeyValueViewOptions) {
    this.state = state
    this.#key = erasedSerde(key)
    this.#context = { topic: state.changelogTopic ?? state.name, side: 'key', headers: NO_HEADERS }
    this.nowMs = nowMs
  }

  get approximateNumEntries(): number {
    return this.state.entries
  }

  get(key: unknown): V | undefined {
    const value = this.state.get(this.bytesOf(key))
    return value === undefined ? undefined : this.shown(value, this.state.lastTimestamp)
  }

  abstract put(key: unknown, value: V | null): void

  putIfAbsent(key: unknown, value: V): V | undefined {
    const held = this.get(key)
    if (held === undefined) this.put(key, value)
    return held
  }

  delete(key: unknown): V | undefined {
    const held = this.get(key)
    this.put(key, null)
    return held
  }

  range(from: unknown, to: unknown): Iterable<Entry<unknown, V>> {
    return this.#scan({ from: this.#bound(from), to: this.#bound(to) })
  }

  reverseRange(from: unknown, to: unknown): Iterable<Entry<unknown, V>> {
    return this.#scan({ from: this.#bound(from), to: this.#bound(to), backwards: true })
  }

  all(): Iterable<Entry<unknown, V>> {
    return this.#scan({})
  }

  reverseAll(): Iterable<Entry<unknown, V>> {
    return this.#scan({ backwards: true })
  }

  prefixScan<P>(
    prefix: P,
    serde: { serialize: (value: P, context: SerdeContext) => Uint8Array },
  ): Iterable<Entry<unknown, V>> {
    return this.#scan({ prefix: serde.serialize(prefix, this.#context) })
  }

  protected abstract shown(value: unknown, timestamp: number): V

  protected bytesOf(key: unknown): Uint8Array {
    if (key === null || key === undefined) throw new TypeError(`the key of an entry of ${this.state.name} is null`)
    return this.#key.serialize(key, this.#context)
  }

  #bound(key: unknown): Uint8Array | undefined {
    return key === undefined ? undefined : this.bytesOf(key)
  }

  #scan(range: KeyRange): Iterable<Entry<unknown, V>> {
    return {
      [Symbol.iterator]: () => this.#entries(this.state.scan(range)),
    }
  }

  *#entries(entries: IterableIterator<KeyValueEntry>): IterableIterator<Entry<unknown, V>> {
    for (const [key, value, timestamp] of entries) {
      yield [this.#key.deserialize(key, this.#context), this.shown(value, timestamp)]
    }
  }
}

/** A plain key-value store. Kafka Streams: `KeyValueStore`. */
export class PlainKeyValueView extends KeyValueView<unknown> {
  override put(key: unknown, value: unknown): void {
    this.state.put(this.bytesOf(key), value ?? null, this.nowMs())
  }

  protected override shown(value: unknown): unknown {
    return value
  }
}

/** A key-value store that shows the time of each entry. Kafka Streams: `TimestampedKeyValueStore`. */
export class TimestampedKeyValueView extends KeyValueView<ValueAndTimestamp<unknown>> {
  override put(key: unknown, value: ValueAndTimestamp<unknown> | null): void {
    if (value === null) this.state.put(this.bytesOf(key), null, this.nowMs())
    else this.state.put(this.bytesOf(key), value.value, value.timestamp)
  }

  protected override shown(value: unknown, timestamp: number): ValueAndTimestamp<unknown> {
    return { value, timestamp }
  }
}
