import { MillraceError } from '../model/errors.ts'
import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import { assert } from '../model/assert.ts'
import { erasedSerde, type ErasedSerde, type ErasedSerializer } from '../serdes/erased-serde.ts'
import { rememberingSerializer } from '../serdes/remembering-serializer.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import { ByteArena } from './byte-arena.ts'
import { STAMPED_WHEN_SENT, type Changelog } from './changelog.ts'
import { DirtyEntries } from './dirty-entries.ts'
import { decodeHeldUpdate, encodeHeldUpdate, HELD_UPDATE_HEADERS, heldSize, priorIn } from './held-update-codec.ts'
import { HeldOrder } from './held-order.ts'
import { KeyTable } from './key-table.ts'
import { STORED_BYTES, storedBytes } from './stored-bytes.ts'
import type { HeldUpdate, SuppressState, UpdateContext } from './suppress-state.ts'
import { UndoLog } from './undo-log.ts'
import { ValueColumn } from './value-column.ts'

const ENTRIES_MIN = 32

/** Options of a suppress buffer in memory. */
export interface MemorySuppressStoreOptions {
  readonly name: string
  readonly value: AnySerde
  /** Where changes go; `undefined` without logging. */
  readonly changelog: Changelog | undefined
}

/**
 * A suppress buffer in memory. Updates are held as the bytes their changelog records have; the time of a value in its column
 * is its time in the buffer.
 */
export class MemorySuppressStore implements SuppressState {
  readonly kind = 'suppress'
  readonly name: string
  readonly changelogTopic: string | undefined
  readonly #changelog: Changelog | undefined
  readonly #serializer: ErasedSerializer
  readonly #serde: ErasedSerde
  readonly #context: SerdeContext
  readonly #arena = new ByteArena()
  readonly #keys = new KeyTable(this.#arena)
  readonly #updates: ValueColumn
  readonly #undo: UndoLog
  readonly #order = new HeldOrder(this.#keys)
  /** Entries to be written at the next flush. */
  readonly #unwritten = new DirtyEntries()
  /** What each update counts for, in bytes. */
  #sizes = new Float64Array(ENTRIES_MIN)
  #entries = 0
  #heldBytes = 0
  #bytes = 0
  #closed = false

  constructor({ name, value, changelog }: MemorySuppressStoreOptions) {
    this.name = name
    this.#changelog = changelog
    this.changelogTopic = changelog?.topic
    this.#serde = erasedSerde(value)
    this.#serializer = rememberingSerializer(value)
    this.#context = { topic: this.changelogTopic ?? name, side: 'value', headers: NO_HEADERS }
    this.#updates = new ValueColumn(STORED_BYTES, this.#context, this.#arena)
    this.#undo = new UndoLog(this.#updates)
  }

  get entries(): number {
    return this.#entries
  }

  get bytes(): number {
    return this.#bytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  get dirty(): boolean {
    return this.#undo.dirty
  }

  get firstTime(): number {
    return this.#order.firstTime
  }

  put(key: Uint8Array, time: number, value: unknown, old: unknown, context: UpdateContext): void {
    this.#assertOpen()
    const valueBytes = this.#bytesOf(value)
    const oldBytes = this.#bytesOf(old)
    let entry = this.#keys.find(key)
    const isNew = entry === -1 || !this.#updates.has(entry)
    const prior = isNew ? oldBytes : priorIn(storedBytes(this.#updates.get(entry)))
    const placeTime = isNew ? time : this.#updates.timestampOf(entry)
    const update = encodeHeldUpdate({ prior, old: oldBytes, value: valueBytes, context }, placeTime)
    if (entry === -1) entry = this.#insert(key)
    if (!isNew) this.#uncount(entry, this.#updates.sizeOf(entry))
    this.#undo.remember(entry)
    this.#unwritten.add(entry)
    this.#updates.set(entry, update, update, placeTime)
    this.#count(entry)
    if (isNew) this.#order.add(entry, placeTime)
  }

  first(): HeldUpdate | undefined {
    this.#assertOpen()
    const entry = this.#order.first
    if (entry === -1) return undefined
    const { value, old, context } = decodeHeldUpdate(storedBytes(this.#updates.get(entry)), HELD_UPDATE_HEADERS)
    return { key: this.#keys.keyAt(entry), value: this.#valueOf(value), old: this.#valueOf(old), context }
  }

  removeFirst(): void {
    const entry = this.#order.first
    assert(entry !== -1, 'an update that is taken out is held')
    this.#order.remove(entry)
    this.#uncount(entry, this.#updates.sizeOf(entry))
    this.#undo.remember(entry)
    this.#unwritten.add(entry)
    this.#updates.unset(entry)
  }

  holds(key: Uint8Array): boolean {
    const entry = this.#keys.find(key)
    return entry !== -1 && this.#updates.has(entry)
  }

  priorOf(key: Uint8Array): unknown {
    const entry = this.#keys.find(key)
    if (entry === -1 || !this.#updates.has(entry)) return null
    return this.#valueOf(priorIn(storedBytes(this.#updates.get(entry))))
  }

  flush(): void {
    this.#assertOpen()
    const changelog = this.#changelog
    if (changelog !== undefined) {
      // The JVM's order, so that its changelog and ours are the same bytes.
      for (const entry of this.#unwritten.inJavaOrder(unwritten => this.#keys.keyAt(unwritten))) {
        const key = this.#keys.keyAt(entry)
        if (!this.#updates.has(entry)) changelog.append(key, null, STAMPED_WHEN_SENT)
        else changelog.append(key, storedBytes(this.#updates.get(entry)), STAMPED_WHEN_SENT, HELD_UPDATE_HEADERS)
      }
    }
    for (const entry of this.#unwritten.take())
      if (!this.#updates.has(entry) && !this.#undo.holds(entry)) this.#keys.remove(entry)
  }

  restore(key: Buffer, value: Buffer | null, _timestamp: number, headers: RecordHeaders): void {
    this.#assertOpen()
    let entry = this.#keys.find(key)
    if (entry !== -1 && this.#updates.has(entry)) {
      this.#order.remove(entry)
      this.#uncount(entry, this.#updates.sizeOf(entry))
      this.#updates.release(entry)
    }
    if (value === null) {
      if (entry !== -1) this.#forget(entry)
      return
    }
    const { time } = decodeHeldUpdate(value, headers)
    if (entry === -1) entry = this.#insert(key)
    this.#updates.setBytes(entry, value, time)
    this.#count(entry)
    this.#order.add(entry, time)
  }

  endRecord(): void {
    this.#undo.endRecord()
    this.#unwritten.endRecord()
  }

  rollbackRecord(): void {
    this.#unwritten.rollbackRecord()
    this.#undo.rollbackRecord(this.#undone, this.#forget)
  }

  commit(): void {
    this.#undo.commit(this.#forget)
    this.#unwritten.commit()
  }

  abort(): void {
    this.#unwritten.abort()
    this.#undo.abort(this.#undone, this.#forget)
  }

  clear(): void {
    this.#unwritten.abort()
    this.#undo.clear()
    this.#order.clear()
    this.#keys.clear()
    this.#updates.clear()
    this.#arena.clear()
    this.#sizes.fill(0)
    this.#entries = 0
    this.#heldBytes = 0
    this.#bytes = 0
  }

  close(): void {
    this.clear()
    this.#closed = true
  }

  /** Puts order and counters right after an entry got its old update back. */
  readonly #undone = (entry: number, sizeBefore: number, hadBefore: boolean): void => {
    if (hadBefore) {
      this.#order.remove(entry)
      this.#uncount(entry, sizeBefore)
    }
    if (!this.#updates.has(entry)) return
    this.#count(entry)
    this.#order.add(entry, this.#updates.timestampOf(entry))
  }

  /** Removes the key of an entry without an update, unless the changelog is still to hear of it. */
  readonly #forget = (entry: number): void => {
    if (!this.#unwritten.has(entry)) this.#keys.remove(entry)
  }

  #insert(key: Uint8Array): number {
    const entry = this.#keys.insert(key)
    this.#updates.reserve(this.#keys.capacity)
    if (entry >= this.#sizes.length) {
      const sizes = new Float64Array(Math.max(entry + 1, this.#sizes.length * 2))
      sizes.set(this.#sizes)
      this.#sizes = sizes
    }
    return entry
  }

  #count(entry: number): void {
    const keyBytes = this.#keys.keyLength(entry)
    const size = heldSize(keyBytes, storedBytes(this.#updates.get(entry)))
    this.#sizes[entry] = size
    this.#entries += 1
    this.#heldBytes += size
    this.#bytes += keyBytes + this.#updates.sizeOf(entry)
  }

  /** @param updateBytes - length of the update that goes */
  #uncount(entry: number, updateBytes: number): void {
    this.#entries -= 1
    this.#heldBytes -= this.#sizes[entry] ?? 0
    this.#bytes -= this.#keys.keyLength(entry) + updateBytes
  }

  #bytesOf(value: unknown): Uint8Array | null {
    return value === null || value === undefined ? null : this.#serializer.serialize(value, this.#context)
  }

  #valueOf(bytes: Buffer | null): unknown {
    return bytes === null ? null : this.#serde.deserialize(bytes, this.#context)
  }

  #assertOpen(): void {
    if (this.#closed) throw new MillraceError('STORE_CLOSED', { node: this.name })
  }
}
