import { NO_HEADERS } from '../model/headers.ts'
import type { Windowed } from '../model/windowed.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import type { Entry, WindowStore } from './store-types.ts'
import type { WindowState } from './window-state.ts'

/** What a user's window store needs beside its state. */
export interface WindowStoreViewOptions {
  readonly state: WindowState
  readonly key: AnySerde
  /** Size of the windows, in ms; decides `end` in scans. */
  readonly windowSizeMs: number
  /** Whether values are shown with their time, as those of a windowed table. @default false */
  readonly isTimestamped?: boolean
  /** Time of a write: that of the record being processed. */
  readonly nowMs: () => number
}

/** A window store as user code sees it: typed keys over a store of bytes. Kafka Streams: `MeteredWindowStore`. */
export class WindowStoreView implements WindowStore<unknown, unknown> {
  readonly #state: WindowState
  readonly #key: ErasedSerde
  readonly #context: SerdeContext
  readonly #windowSizeMs: number
  readonly #isTimestamped: boolean
  readonly #nowMs: () => number

  constructor({ state, key, windowSizeMs, isTimestamped = false, nowMs }: WindowStoreViewOptions) {
    this.#state = state
    this.#key = erasedSerde(key)
    this.#context = { topic: state.changelogTopic ?? state.name, side: 'key', headers: NO_HEADERS }
    this.#windowSizeMs = windowSizeMs
    this.#isTimestamped = isTimestamped
    this.#nowMs = nowMs
  }

  get(key: unknown, start: number): unknown {
    const value = this.#state.get(this.#bytesOf(key), start)
    return value === undefined ? undefined : this.#shown(value, this.#state.lastTimestamp)
  }

  put(key: unknown, value: unknown, start: number): void {
    const { value: written, timestamp } = this.#written(value)
    this.#state.put(this.#bytesOf(key), written ?? null, start, timestamp)
  }

  fetch(key: unknown, from: number, to: number): Iterable<readonly [start: number, value: unknown]> {
    const found: [number, unknown][] = []
    this.#state.fetch(this.#bytesOf(key), from, to, (start, value, timestamp) => {
      found.push([start, this.#shown(value, timestamp)])
      return true
    })
    return found
  }

  backwardFetch(key: unknown, from: number, to: number): Iterable<readonly [start: number, value: unknown]> {
    const found: [number, unknown][] = []
    this.#state.fetchBackwards(this.#bytesOf(key), from, to, (start, value, timestamp) => {
      found.push([start, this.#shown(value, timestamp)])
      return true
    })
    return found
  }

  fetchRange(fromKey: unknown, toKey: unknown, from: number, to: number): Iterable<Entry<Windowed<unknown>, unknown>> {
    const first = fromKey === undefined ? undefined : this.#bytesOf(fromKey)
    const last = toKey === undefined ? undefined : this.#bytesOf(toKey)
    return this.#scan(from, to, first, last)
  }

  fetchAll(from: number, to: number): Iterable<Entry<Windowed<unknown>, unknown>> {
    return this.#scan(from, to, undefined, undefined)
  }

  all(): Iterable<Entry<Windowed<unknown>, unknown>> {
    return this.#scan(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, undefined, undefined)
  }

  #shown(value: unknown, timestamp: number): unknown {
    return this.#isTimestamped ? { value, timestamp } : value
  }

  #written(value: unknown): { readonly value: unknown; readonly timestamp: number } {
    return this.#isTimestamped && isValueAndTimestamp(value) ? value : { value, timestamp: this.#nowMs() }
  }

  #scan(
    from: number,
    to: number,
    first: Uint8Array | undefined,
    last: Uint8Array | undefined,
  ): Iterable<Entry<Windowed<unknown>, unknown>> {
    // Taken at once: user code may write while it iterates.
    const found: Entry<Windowed<unknown>, unknown>[] = []
    for (const [key, start, value, timestamp] of this.#state.fetchAll(from, to)) {
      if (first !== undefined && Buffer.compare(key, first) < 0) continue
      if (last !== undefined && Buffer.compare(key, last) > 0) continue
      const inner = this.#key.deserialize(key, this.#context)
      found.push([{ key: inner, start, end: start + this.#windowSizeMs }, this.#shown(value, timestamp)])
    }
    return found
  }

  #bytesOf(key: unknown): Uint8Array {
    if (key === null || key === undefined) throw new TypeError(`the key of an entry of ${this.#state.name} is null`)
    return this.#key.serialize(key, this.#context)
  }
}

function isValueAndTimestamp(value: unknown): value is { readonly value: unknown; readonly timestamp: number } {
  return typeof value === 'object' && value !== null && 'timestamp' in value && typeof value.timestamp === 'number'
}
