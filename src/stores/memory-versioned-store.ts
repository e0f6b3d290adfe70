import { MillraceError } from '../model/errors.ts'
import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import type { Changelog } from './changelog.ts'
import { MemoryKeyValueStore } from './memory-key-value-store.ts'
import { UndoneNumber } from './undone-number.ts'
import { OPEN_END, VersionHistory, type Version } from './version-history.ts'
import type { VersionedState, VersionEnd } from './versioned-state.ts'

/** Options of a versioned store in memory. */
export interface MemoryVersionedStoreOptions {
  readonly name: string
  readonly value: AnySerde
  /** How far back versions can be read and late ones are taken, in ms, by the highest time put. */
  readonly retentionMs: number
  /** Where changes go; `undefined` without logging. */
  readonly changelog: Changelog | undefined
  /** The changelog topic to restore from, where writes are not logged again (a source topic); `changelog.topic` otherwise. */
  readonly restoredFrom?: string | undefined
  /** Most bytes of keys and values. @default no bound */
  readonly maxBytes?: number | undefined
}

/**
 * A versioned store in memory: the latest value of each key, its earlier ones by key and time, and when those may go.
 * Kafka Streams: `RocksDBVersionedStore`, whose segments show nowhere but in what it drops.
 */
export class MemoryVersionedStore implements VersionedState {
  readonly kind = 'versioned'
  readonly name: string
  readonly changelogTopic: string | undefined
  readonly #retentionMs: number
  readonly #maxBytes: number
  readonly #changelog: Changelog | undefined
  readonly #serde: ErasedSerde
  readonly #context: SerdeContext
  readonly #latest: MemoryKeyValueStore
  readonly #history = new VersionHistory()
  readonly #observed = new UndoneNumber(-1)
  /** What a savepoint or the end of a transaction goes through. */
  readonly #parts: readonly Pick<MemoryKeyValueStore, 'endRecord' | 'rollbackRecord' | 'commit' | 'abort'>[]
  #lastTimestamp = -1
  #lastValidTo: number | undefined

  constructor(options: MemoryVersionedStoreOptions) {
    const { name, value, changelog } = options
    this.name = name
    this.#retentionMs = options.retentionMs
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY
    this.#changelog = changelog
    this.changelogTopic = changelog?.topic ?? options.restoredFrom
    this.#serde = erasedSerde(value)
    this.#context = { topic: this.changelogTopic ?? name, side: 'value', headers: NO_HEADERS }
    this.#latest = new MemoryKeyValueStore({ name, value, changelog: undefined, restoredFrom: this.changelogTopic })
    this.#parts = [this.#latest, this.#history, this.#observed]
  }

  get entries(): number {
    return this.#latest.entries
  }

  get bytes(): number {
    return this.#latest.bytes + this.#history.bytes
  }

  get dirty(): boolean {
    return this.#latest.dirty || this.#history.dirty
  }

  get lastTimestamp(): number {
    return this.#lastTimestamp
  }

  get lastValidTo(): number | undefined {
    return this.#lastValidTo
  }

  get(key: Uint8Array): unknown {
    const value = this.#latest.get(key)
    this.#lastTimestamp = this.#latest.lastTimestamp
    this.#lastValidTo = undefined
    return value
  }

  getAsOf(key: Uint8Array, asOf: number): unknown {
    this.#lastTimestamp = -1
    this.#lastValidTo = undefined
    const latest = this.#latest.get(key)
    if (latest !== undefined && this.#latest.lastTimestamp <= asOf) {
      this.#lastTimestamp = this.#latest.lastTimestamp
      return latest
    }
    // The latest value is told however old it is; earlier ones only within the retention.
    if (asOf < Math.max(0, this.#observed.value - this.#retentionMs)) return undefined
    const version = this.#history.at(key, asOf)
    if (version === undefined || version.value === null || version.to <= asOf) return undefined
    this.#lastTimestamp = version.from
    this.#lastValidTo = version.to
    return this.#serde.deserialize(asBuffer(version.value), this.#context)
  }

  put(key: Uint8Array, value: unknown, timestamp: number): VersionEnd {
    const bytes = value === null ? null : this.#serde.serialize(value, this.#context)
    if (this.bytes + key.length + (bytes?.length ?? 0) > this.#maxBytes) this.#throwFull()
    const end = this.#place(key, bytes, value, timestamp)
    // The JVM logs what it rejects, too; a restore rejects it again.
    this.#changelog?.append(key, bytes, timestamp)
    return end
  }

  latest(): IterableIterator<readonly [key: Buffer, value: unknown, timestamp: number]> {
    return this.#latest.scan({})
  }

  restore(key: Buffer, value: Buffer | null, timestamp: number, _headers: RecordHeaders): void {
    this.#place(key, value, value === null ? null : this.#serde.deserialize(value, this.#context), timestamp)
    // What a changelog says is committed.
    this.commit()
  }

  endRecord(): void {
    for (const part of this.#parts) part.endRecord()
  }

  rollbackRecord(): void {
    for (const part of this.#parts) part.rollbackRecord()
  }

  commit(): void {
    for (const part of this.#parts) part.commit()
  }

  abort(): void {
    for (const part of this.#parts) part.abort()
  }

  clear(): void {
    this.#latest.clear()
    this.#history.clear()
    this.#observed.value = -1
    this.#observed.commit()
  }

  close(): void {
    this.#latest.close()
    this.#history.clear()
  }

  /** Finds a version its place among those of its key. */
  #place(key: Uint8Array, bytes: Uint8Array | null, value: unknown, timestamp: number): VersionEnd {
    if (timestamp < this.#observed.value - this.#retentionMs) return 'rejected'
    if (timestamp > this.#observed.value) {
      this.#observed.value = timestamp
      this.#history.expire(timestamp - this.#retentionMs)
    }
    const held = this.#latest.get(key)
    const heldSince = held === undefined ? undefined : this.#latest.lastTimestamp
    if (heldSince !== undefined && heldSince > timestamp) return this.#insert(key, bytes, timestamp, heldSince)
    if (heldSince !== undefined && heldSince < timestamp) {
      this.#history.keep(key, heldSince, timestamp, this.#serde.serialize(held, this.#context))
    }
    if (heldSince === undefined) {
      const next = this.#history.nextAfter(key, timestamp)
      if (next !== undefined) return this.#insert(key, bytes, timestamp, next)
      const before = this.#history.at(key, timestamp)
      if (before?.to === OPEN_END) this.#shorten(key, before, timestamp)
    }
    this.#latest.put(key, value, timestamp)
    if (bytes === null) this.#history.keep(key, timestamp, OPEN_END, null)
    return 'latest'
  }

  /** Puts a version before one that is there already. */
  #insert(key: Uint8Array, value: Uint8Array | null, timestamp: number, latestFrom: number): number {
    const before = this.#history.at(key, timestamp)
    let to = this.#history.nextAfter(key, timestamp) ?? latestFrom
    if (before !== undefined && before.to > timestamp) {
      to = before.to === OPEN_END ? to : before.to
      this.#shorten(key, before, timestamp)
    }
    this.#history.keep(key, timestamp, to, value)
    return to
  }

  /** Lets a version end at a time, at which another one begins. */
  #shorten(key: Uint8Array, { from, value }: Version, to: number): void {
    if (from < to) this.#history.keep(key, from, to, value)
    else this.#history.drop(key, from)
  }

  #throwFull(): never {
    throw new MillraceError('STORE_FULL', {
      node: this.name,
      what: `The store ${this.name} reached its bound of ${String(this.#maxBytes)} bytes with ${String(this.entries)} entries.`,
    })
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
