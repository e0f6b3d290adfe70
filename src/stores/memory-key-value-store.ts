import { MillraceError } from '../model/errors.ts'
import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import type { KeyHashes } from '../model/key-hashes.ts'
import type { UpcomingKeys } from '../model/upcoming-keys.ts'
import type { ErasedSerializer } from '../serdes/erased-serde.ts'
import { rememberingSerializer, transientSerializer } from '../serdes/remembering-serializer.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import { ByteArena } from './byte-arena.ts'
import { KeyTable } from './key-table.ts'
import type { Changelog } from './changelog.ts'
import type { KeyRange, KeyValueEntry, KeyValueState } from './key-value-state.ts'
import { OrderedEntries } from './ordered-entries.ts'
import { UndoLog } from './undo-log.ts'
import { ValueColumn } from './value-column.ts'
import type { WriteCache } from './write-cache.ts'

/** Options of a store in memory. */
export interface MemoryStoreOptions {
  readonly name: string
  readonly value: AnySerde
  /** Where changes go; `undefined` without logging. */
  readonly changelog: Changelog | undefined
  /** The changelog topic to restore from, where writes are not logged again (a source topic); `changelog.topic` otherwise. */
  readonly restoredFrom?: string | undefined
  /** Most bytes of keys and values. @default no bound */
  readonly maxBytes?: number | undefined
  /** Holds back what would go to the changelog. @default none */
  readonly cache?: WriteCache | undefined
  /** Knows the hash of the key its task works with. @default none */
  readonly keyHashes?: KeyHashes | undefined
}

/**
 * A key-value store in memory, written through, with an undo log for the open transaction. Costs 70 to 150 bytes
 * an entry beside key and value, by how full its tables are, and nothing for the garbage collector to walk.
 */
export class MemoryKeyValueStore implements KeyValueState {
  readonly kind = 'keyValue'
  readonly name: string
  readonly changelogTopic: string | undefined
  readonly cache: WriteCache | undefined
  readonly #changelog: Changelog | undefined
  readonly #maxBytes: number
  readonly #arena = new ByteArena()
  readonly #keys: KeyTable
  readonly #values: ValueColumn
  readonly #undo: UndoLog
  readonly #serializer: ErasedSerializer
  readonly #serdeContext: SerdeContext
  #ordered: OrderedEntries | undefined
  #entries = 0
  #bytes = 0
  #closed = false
  #lastTimestamp = -1
  #lastPutBytes: Uint8Array | null = null

  constructor(options: MemoryStoreOptions) {
    this.name = options.name
    this.#keys = new KeyTable(this.#arena, options.keyHashes)
    this.#changelog = options.changelog
    this.cache = options.cache
    this.changelogTopic = options.changelog?.topic ?? options.restoredFrom
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY
    // A cache keeps the bytes; else they are copied on before the next value is written.
    this.#serializer =
      options.cache === undefined ? transientSerializer(options.value) : rememberingSerializer(options.value)
    this.#serdeContext = { topic: this.changelogTopic ?? options.name, side: 'value', headers: NO_HEADERS }
    this.#values = new ValueColumn(options.value, this.#serdeContext, this.#arena)
    this.#undo = new UndoLog(this.#values)
  }

  get entries(): number {
    return this.#entries
  }

  get bytes(): number {
    return this.#bytes
  }

  get dirty(): boolean {
    return this.#undo.dirty || this.cache?.isEmpty === false
  }

  get lastTimestamp(): number {
    return this.#lastTimestamp
  }

  get lastPutBytes(): Uint8Array | null {
    return this.#lastPutBytes
  }

  get(key: Uint8Array): unknown {
    this.#assertOpen()
    const entry = this.#keys.find(key)
    if (entry === -1 || !this.#values.has(entry)) {
      this.#lastTimestamp = -1
      return undefined
    }
    this.#lastTimestamp = this.#values.timestampOf(entry)
    return this.#values.get(entry)
  }

  has(key: Uint8Array): boolean {
    this.#assertOpen()
    const entry = this.#keys.find(key)
    return entry !== -1 && this.#values.has(entry)
  }

  put(key: Uint8Array, value: unknown, timestamp: number): void {
    this.#assertOpen()
    const bytes = value === null ? null : this.#serializer.serialize(value, this.#serdeContext)
    let entry = this.#keys.find(key)
    const old = this.cache === undefined ? undefined : this.#heldBefore(key, entry)
    if (entry === -1 && bytes !== null) entry = this.#insert(key, bytes.length)
    if (entry !== -1) this.#replace(entry, key, value, bytes, timestamp)
    this.#lastPutBytes = bytes
    if (this.cache === undefined) this.#changelog?.append(key, bytes, timestamp)
    else this.cache.write(key, bytes, value, timestamp, old)
  }

  *scan({ from, to, prefix, backwards = false }: KeyRange): IterableIterator<KeyValueEntry> {
    this.#assertOpen()
    this.#ordered ??= new OrderedEntries(this.#keys, this.#usedEntries())
    const first = prefix ?? from
    const last = prefix === undefined ? to : lastWithPrefix(prefix)
    for (const entry of backwards ? this.#ordered.scanBackwards(first, last) : this.#ordered.scan(first, last)) {
      this.#assertOpen()
      if (!this.#values.has(entry)) continue
      const key = this.#keys.keyAt(entry)
      if (prefix !== undefined && !beginsWith(key, prefix)) continue
      yield [key, this.#values.get(entry), this.#values.timestampOf(entry)]
    }
  }

  lookAhead(keys: UpcomingKeys): void {
    this.#keys.lookAhead(keys)
    this.#values.lookAhead(keys)
  }

  restore(key: Buffer, value: Buffer | null, timestamp: number, _headers: RecordHeaders): void {
    this.#assertOpen()
    let entry = this.#keys.find(key)
    if (value === null) {
      if (entry === -1) return
      this.#bytes -= key.length + this.#values.sizeOf(entry)
      this.#values.release(entry)
      this.#entries -= 1
      this.#forget(entry)
      return
    }
    if (entry === -1) entry = this.#insert(key, value.length)
    const isNew = !this.#values.has(entry)
    const grown = value.length + (isNew ? key.length : 0) - this.#values.sizeOf(entry)
    if (!isNew) this.#values.release(entry)
    else this.#entries += 1
    this.#values.setBytes(entry, value, timestamp)
    this.#bytes += grown
  }

  endRecord(): void {
    this.cache?.endRecord()
    this.#undo.endRecord()
  }

  rollbackRecord(): void {
    this.cache?.rollbackRecord()
    this.#undo.rollbackRecord(this.#undone, this.#forget)
  }

  commit(): void {
    this.#undo.commit(this.#forget)
  }

  abort(): void {
    this.cache?.abort()
    this.#undo.abort(this.#undone, this.#forget)
  }

  clear(): void {
    this.cache?.abort()
    this.#undo.clear()
    this.#keys.clear()
    this.#values.clear()
    this.#arena.clear()
    this.#ordered = undefined
    this.#entries = 0
    this.#bytes = 0
  }

  close(): void {
    this.clear()
    this.#closed = true
  }

  /** Puts the counters right after an entry got its old value back. */
  readonly #undone = (entry: number, sizeBefore: number, hadBefore: boolean): void => {
    const has = this.#values.has(entry)
    const keyLength = has === hadBefore ? 0 : this.#keys.keyAt(entry).length
    this.#bytes += this.#values.sizeOf(entry) - sizeBefore + (has ? keyLength : -keyLength)
    this.#entries += Number(has) - Number(hadBefore)
  }

  /** The value that will be the one before, once the cache tells of the key; asked for at its first write only. */
  #heldBefore(key: Uint8Array, entry: number): unknown {
    if (entry === -1 || !this.#values.has(entry) || this.cache?.holds(key) === true) return null
    return this.#values.get(entry)
  }

  #replace(entry: number, key: Uint8Array, value: unknown, bytes: Uint8Array | null, timestamp: number): void {
    const values = this.#values
    const before = values.rawSizeOf(entry)
    const after = bytes === null ? -1 : bytes.length
    // With a value its key counts, too.
    const grown = (after < 0 ? 0 : key.length + after) - (before < 0 ? 0 : key.length + before)
    if (grown > 0 && this.#bytes + grown > this.#maxBytes) this.#refuse(entry)
    this.#undo.remember(entry)
    if (bytes === null) values.unset(entry)
    else values.set(entry, value, bytes, timestamp)
    this.#entries += Number(after >= 0) - Number(before >= 0)
    this.#bytes += grown
  }

  #insert(key: Uint8Array, valueLength: number): number {
    if (this.#bytes + key.length + valueLength > this.#maxBytes) this.#throwFull()
    const entry = this.#keys.insert(key)
    this.#values.reserve(this.#keys.capacity)
    this.#ordered?.add(entry)
    return entry
  }

  /** Removes the key of an entry without a value. */
  readonly #forget = (entry: number): void => {
    this.#ordered?.remove(entry)
    this.#keys.remove(entry)
  }

  #refuse(entry: number): never {
    if (!this.#values.has(entry) && !this.#undo.holds(entry)) this.#forget(entry)
    return this.#throwFull()
  }

  #throwFull(): never {
    throw new MillraceError('STORE_FULL', {
      node: this.name,
      what: `The store ${this.name} reached its bound of ${String(this.#maxBytes)} bytes with ${String(this.#entries)} entries.`,
    })
  }

  *#usedEntries(): IterableIterator<number> {
    for (let entry = 0; entry < this.#keys.capacity; entry++) if (this.#keys.isUsed(entry)) yield entry
  }

  #assertOpen(): void {
    if (this.#closed) throw new MillraceError('STORE_CLOSED', { node: this.name })
  }
}

/** The highest key that begins with a prefix cannot be named, so the scan's end is the next key after all of them, or open. */
function lastWithPrefix(prefix: Uint8Array): Uint8Array | undefined {
  const last = prefix.findLastIndex(byte => byte !== 0xff)
  if (last === -1) return undefined
  const next = Buffer.from(prefix.subarray(0, last + 1))
  next[last] = (next[last] ?? 0) + 1
  return next
}

function beginsWith(key: Buffer, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && Buffer.compare(key.subarray(0, prefix.length), prefix) === 0
}
