import { assert } from '../model/assert.ts'
import { MillraceError } from '../model/errors.ts'
import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import { INT64_BYTES, readSafeInt64, writeSafeInt64 } from '../serdes/int64.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import { bytes as bytesSerde } from '../serdes/text.ts'
import type { Changelog } from './changelog.ts'
import { MemoryKeyValueStore } from './memory-key-value-store.ts'
import { UndoneNumber } from './undone-number.ts'
import type { VersionedState, VersionEnd } from './versioned-state.ts'

const LENGTH_BYTES = 4
const NOTHING = Buffer.alloc(0)
const HAS_VALUE = 1
const IS_DELETION = 0
/** End of the version that holds now. */
const OPEN_END = Number.MAX_SAFE_INTEGER

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

/** An earlier version, or a deletion that holds now. */
interface Version {
  readonly from: number
  readonly to: number
  /** `null` for a deletion. */
  readonly value: Buffer | null
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
  /** `4 bytes key length | key | 8 bytes from` → `8 bytes to | 1 byte whether a value | value`. */
  readonly #history: MemoryKeyValueStore
  /** `8 bytes time after which nobody asks for it | key of the history` → nothing. */
  readonly #expiry: MemoryKeyValueStore
  readonly #observed = new UndoneNumber(-1)
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
    this.#history = new MemoryKeyValueStore({ name, value: bytesSerde, changelog: undefined })
    this.#expiry = new MemoryKeyValueStore({ name, value: bytesSerde, changelog: undefined })
  }

  get entries(): number {
    return this.#latest.entries
  }

  get bytes(): number {
    return this.#latest.bytes + this.#history.bytes
  }

  get dirty(): boolean {
    return this.#latest.dirty || this.#history.dirty || this.#expiry.dirty
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
    const version = this.#versionAt(key, asOf)
    if (version === undefined || version.value === null || version.to <= asOf) return undefined
    this.#lastTimestamp = version.from
    this.#lastValidTo = version.to
    return this.#serde.deserialize(version.value, this.#context)
  }

  put(key: Uint8Array, value: unknown, timestamp: number): VersionEnd {
    const bytes = value === null ? null : this.#serde.serialize(value, this.#context)
    if (this.bytes + key.length + (bytes?.length ?? 0) > this.#maxBytes) this.#throwFull()
    const end = this.#place(key, bytes === null ? null : Buffer.from(bytes), value, timestamp)
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
    for (const store of this.#stores) store.clear()
    this.#observed.value = -1
    this.#observed.commit()
  }

  close(): void {
    for (const store of this.#stores) store.close()
  }

  get #stores(): readonly MemoryKeyValueStore[] {
    return [this.#latest, this.#history, this.#expiry]
  }

  get #parts(): readonly { endRecord(): void; rollbackRecord(): void; commit(): void; abort(): void }[] {
    return [this.#latest, this.#history, this.#expiry, this.#observed]
  }

  /** Finds a version its place among those of its key. */
  #place(key: Uint8Array, bytes: Buffer | null, value: unknown, timestamp: number): VersionEnd {
    if (timestamp < this.#observed.value - this.#retentionMs) return 'rejected'
    if (timestamp > this.#observed.value) {
      const dueBefore = this.#observed.value - this.#retentionMs
      this.#observed.value = timestamp
      this.#expire(Math.max(0, dueBefore))
    }
    const held = this.#latest.get(key)
    const heldSince = held === undefined ? undefined : this.#latest.lastTimestamp
    if (heldSince !== undefined && heldSince > timestamp) return this.#insert(key, bytes, timestamp, heldSince)
    if (heldSince !== undefined && heldSince < timestamp) {
      const before = Buffer.from(this.#serde.serialize(held, this.#context))
      this.#keep(key, { from: heldSince, to: timestamp, value: before })
    }
    if (heldSince === undefined) {
      const next = this.#versionAfter(key, timestamp)
      if (next !== undefined) return this.#insert(key, bytes, timestamp, next.from)
      const before = this.#versionAt(key, timestamp)
      if (before?.to === OPEN_END) {
        this.#drop(key, before)
        if (before.from < timestamp) this.#keep(key, { ...before, to: timestamp })
      }
    }
    this.#latest.put(key, value, timestamp)
    if (bytes === null) this.#keep(key, { from: timestamp, to: OPEN_END, value: null })
    return 'latest'
  }

  /** Puts a version before one that is there already. */
  #insert(key: Uint8Array, value: Buffer | null, timestamp: number, latestFrom: number): number {
    const before = this.#versionAt(key, timestamp)
    let to = this.#versionAfter(key, timestamp)?.from ?? latestFrom
    if (before !== undefined && before.to > timestamp) {
      to = before.to === OPEN_END ? to : before.to
      this.#drop(key, before)
      if (before.from < timestamp) this.#keep(key, { ...before, to: timestamp })
    }
    this.#keep(key, { from: timestamp, to, value })
    return to
  }

  /** The last version that begins at or before a time. */
  #versionAt(key: Uint8Array, time: number): Version | undefined {
    for (const [, value] of this.#history.scan({
      from: versionKey(key, 0),
      to: versionKey(key, time),
      backwards: true,
    })) {
      return this.#versionOf(asBuffer(value))
    }
    return undefined
  }

  /** The first version that begins after a time. */
  #versionAfter(key: Uint8Array, time: number): Version | undefined {
    for (const [, value] of this.#history.scan({ from: versionKey(key, time + 1), to: versionKey(key, OPEN_END) }))
      return this.#versionOf(asBuffer(value))
    return undefined
  }

  #versionOf(held: Buffer): Version {
    const [from, to] = [readSafeInt64(held, 0), readSafeInt64(held, INT64_BYTES)]
    assert(from !== undefined && to !== undefined, 'a version has bounds', { store: this.name })
    const valueAt = 2 * INT64_BYTES + 1
    return { from, to, value: held[valueAt - 1] === HAS_VALUE ? held.subarray(valueAt) : null }
  }

  #keep(key: Uint8Array, { from, to, value }: Version): void {
    const historyKey = versionKey(key, from)
    const held = Buffer.alloc(2 * INT64_BYTES + 1)
    writeSafeInt64(held, from, 0)
    writeSafeInt64(held, to, INT64_BYTES)
    held[2 * INT64_BYTES] = value === null ? IS_DELETION : HAS_VALUE
    this.#history.put(historyKey, value === null ? held : Buffer.concat([held, value]), from)
    this.#expiry.put(expiryKey(historyKey, to === OPEN_END ? from : to), NOTHING, from)
  }

  #drop(key: Uint8Array, { from, to }: Version): void {
    const historyKey = versionKey(key, from)
    this.#history.put(historyKey, null, from)
    this.#expiry.put(expiryKey(historyKey, to === OPEN_END ? from : to), null, from)
  }

  /** Forgets versions whose time nobody can ask for any more; what was due before is gone, and its deletions would only be in the way. */
  #expire(dueBefore: number): void {
    const due = this.#observed.value - this.#retentionMs
    if (due <= dueBefore) return
    const from = Buffer.allocUnsafe(INT64_BYTES)
    writeSafeInt64(from, dueBefore, 0)
    for (const [key] of this.#expiry.scan({ from })) {
      const time = readSafeInt64(key, 0)
      if (time === undefined || time >= due) return
      const expired = Buffer.from(key)
      this.#history.put(expired.subarray(INT64_BYTES), null, time)
      this.#expiry.put(expired, null, time)
    }
  }

  #throwFull(): never {
    throw new MillraceError('STORE_FULL', {
      node: this.name,
      what: `The store ${this.name} reached its bound of ${String(this.#maxBytes)} bytes with ${String(this.entries)} entries.`,
    })
  }
}

function versionKey(key: Uint8Array, from: number): Buffer {
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + key.length + INT64_BYTES)
  bytes.writeInt32BE(key.length, 0)
  bytes.set(key, LENGTH_BYTES)
  writeSafeInt64(bytes, from, LENGTH_BYTES + key.length)
  return bytes
}

function expiryKey(historyKey: Buffer, time: number): Buffer {
  const bytes = Buffer.allocUnsafe(INT64_BYTES + historyKey.length)
  writeSafeInt64(bytes, time, 0)
  bytes.set(historyKey, INT64_BYTES)
  return bytes
}

function asBuffer(bytes: unknown): Buffer {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  throw new TypeError('versions are kept as bytes')
}
