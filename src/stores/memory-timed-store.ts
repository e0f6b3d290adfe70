import { MillraceError } from '../model/errors.ts'
import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import type { KeyHashes } from '../model/key-hashes.ts'
import type { UpcomingKeys } from '../model/upcoming-keys.ts'
import type { ErasedSerializer } from '../serdes/erased-serde.ts'
import { rememberingSerializer, transientSerializer } from '../serdes/remembering-serializer.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import { ByteArena } from './byte-arena.ts'
import type { Changelog } from './changelog.ts'
import { LogKeys, type LogKeyTail } from './log-keys.ts'
import type { StateStore } from './state-store.ts'
import { TimedRows } from './timed-rows.ts'
import { UndoLog } from './undo-log.ts'
import { UndoneNumber } from './undone-number.ts'
import { ValueColumn } from './value-column.ts'
import type { WriteCache } from './write-cache.ts'

/** Options of a window or session store in memory. */
export interface MemoryTimedStoreOptions {
  readonly name: string
  readonly value: AnySerde
  /** How long after its time a row is seen, in ms, by the highest time put. */
  readonly retentionMs: number
  /** Whether rows of exactly that age are seen, too. @default false */
  readonly isTimeOrdered?: boolean | undefined
  /** Where changes go; `undefined` without logging. */
  readonly changelog: Changelog | undefined
  /** Most bytes of keys and values. @default no bound */
  readonly maxBytes?: number | undefined
  /** Holds back what would go to the changelog. @default none */
  readonly cache?: WriteCache | undefined
  /** Knows the hash of the key its task works with. @default none */
  readonly keyHashes?: KeyHashes | undefined
}

/**
 * What window and session stores in memory have in common: rows of key, time and tag, written through, with an undo log for
 * the open transaction. Rows that are too old are not seen, and go at the next commit: an abort may need them again.
 */
export abstract class MemoryTimedStore implements StateStore {
  abstract readonly kind: 'window' | 'session'
  readonly name: string
  readonly changelogTopic: string | undefined
  readonly retentionMs: number
  readonly cache: WriteCache | undefined
  protected readonly rows: TimedRows
  protected readonly values: ValueColumn
  /** Highest tag given out, where tags are counted. */
  protected readonly lastTag = new UndoneNumber(0)
  readonly #observed = new UndoneNumber(-1)
  /** The same of what has left the cache: by it the JVM's store behind the cache shows the value before or not. */
  readonly #told = new UndoneNumber(-1)
  /** Age of the oldest rows that are seen, in ms. */
  readonly #oldestMs: number
  readonly #changelog: Changelog | undefined
  readonly #maxBytes: number
  readonly #arena = new ByteArena()
  readonly #logKeys: LogKeys
  readonly #undo: UndoLog
  readonly #serializer: ErasedSerializer
  readonly #serdeContext: SerdeContext
  #entries = 0
  #bytes = 0
  #closed = false
  #logged = false
  #lastPutBytes: Uint8Array | null = null

  /** @param tail - of its changelog keys */
  constructor(options: MemoryTimedStoreOptions, tail: LogKeyTail) {
    this.#logKeys = new LogKeys(tail)
    this.name = options.name
    this.retentionMs = options.retentionMs
    this.#oldestMs = options.isTimeOrdered === true ? options.retentionMs : options.retentionMs - 1
    this.#changelog = options.changelog
    this.cache = options.cache
    if (options.cache !== undefined) {
      options.cache.showsOld = key => this.parts(key).time > this.#told.value - this.retentionMs
      options.cache.passes = key => {
        const { time } = this.parts(key)
        if (time > this.#told.value) this.#told.value = time
      }
    }
    this.changelogTopic = options.changelog?.topic
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY
    // A cache keeps the bytes; else they are copied on before the next value is written.
    this.#serializer =
      options.cache === undefined ? transientSerializer(options.value) : rememberingSerializer(options.value)
    this.#serdeContext = { topic: this.changelogTopic ?? options.name, side: 'value', headers: NO_HEADERS }
    this.rows = new TimedRows(this.#arena, options.keyHashes)
    this.values = new ValueColumn(options.value, this.#serdeContext, this.#arena)
    this.#undo = new UndoLog(this.values)
  }

  get entries(): number {
    return this.#entries
  }

  get bytes(): number {
    return this.#bytes
  }

  get dirty(): boolean {
    return this.#logged || this.#undo.dirty || this.cache?.isEmpty === false
  }

  get observedMs(): number {
    return this.#observed.value
  }

  get lastPutBytes(): Uint8Array | null {
    return this.#lastPutBytes
  }

  lookAhead(keys: UpcomingKeys): void {
    this.rows.lookAhead(keys)
    this.values.lookAhead(keys)
  }

  restore(key: Buffer, value: Buffer | null, timestamp: number, _headers: RecordHeaders): void {
    this.assertOpen()
    const { rawKey, time, tag } = this.parts(key)
    this.lastTag.value = tag
    if (value !== null || this.takesNull) {
      this.observe(time)
      this.#restoreRow(rawKey, time, tag, value, timestamp)
    }
    this.#told.value = this.#observed.value
    this.#told.commit()
    this.#observed.commit()
    this.lastTag.commit()
    this.#expire()
  }

  countUnseen(from: number, to: number): number {
    const last = Math.min(to, this.heldFrom - 1)
    if (last < from) return 0
    let count = 0
    for (const row of this.rows.scan(from, last)) count += Number(this.values.has(row))
    return count
  }

  endRecord(): void {
    this.cache?.endRecord()
    this.#undo.endRecord()
    this.#observed.endRecord()
    this.#told.endRecord()
    this.lastTag.endRecord()
  }

  rollbackRecord(): void {
    this.cache?.rollbackRecord()
    this.#undo.rollbackRecord(this.#undone, this.#forget)
    this.#observed.rollbackRecord()
    this.#told.rollbackRecord()
    this.lastTag.rollbackRecord()
  }

  commit(): void {
    this.#undo.commit(this.#forget)
    this.#observed.commit()
    this.#told.commit()
    this.lastTag.commit()
    this.#logged = false
    this.#expire()
  }

  abort(): void {
    this.cache?.abort()
    this.#undo.abort(this.#undone, this.#forget)
    this.#observed.abort()
    this.#told.abort()
    this.lastTag.abort()
    this.#logged = false
  }

  clear(): void {
    this.cache?.abort()
    this.#undo.clear()
    this.rows.clear()
    this.values.clear()
    this.#arena.clear()
    for (const number of [this.#observed, this.#told, this.lastTag]) {
      number.value = number === this.lastTag ? 0 : -1
      number.commit()
    }
    this.#logged = false
    this.#entries = 0
    this.#bytes = 0
  }

  close(): void {
    this.clear()
    this.#closed = true
  }

  /** Whether a null is a deletion; a store that keeps duplicates only numbers and logs it. */
  protected get takesNull(): boolean {
    return true
  }

  /** The parts of a changelog key. */
  protected abstract parts(key: Buffer): { readonly rawKey: Buffer; readonly time: number; readonly tag: number }

  /**
   * Lowest time that is seen by its key. With a cache everything is seen that is still there, as in the JVM, whose cache keeps
   * what it has written.
   */
  protected get visibleFrom(): number {
    if (this.cache !== undefined) return Number.NEGATIVE_INFINITY
    return this.#observed.value - this.#oldestMs
  }

  /** Lowest time that is held on to, and that scans for final results give: not above `visibleFrom`. */
  protected abstract get heldFrom(): number

  /** Notes that something of this time was put. */
  protected observe(time: number): void {
    if (time > this.#observed.value) this.#observed.value = time
  }

  /** Rows that are held on to, those of one time together, by time. */
  protected *rowsByTime(from: number, to: number): IterableIterator<readonly number[]> {
    this.assertOpen()
    let together: number[] = []
    let time = Number.NaN
    for (const row of this.rows.scan(Math.max(from, this.heldFrom), to)) {
      if (!this.values.has(row)) continue
      if (this.rows.timeOf(row) !== time && together.length > 0) {
        yield together
        together = []
      }
      time = this.rows.timeOf(row)
      together.push(row)
    }
    if (together.length > 0) yield together
  }

  /** The row of exactly this key, time and tag that has a value and is seen, or −1. */
  protected visibleRow(key: Uint8Array, time: number, tag: number): number {
    this.assertOpen()
    if (time < this.visibleFrom) return -1
    const number = this.rows.keyNumber(key)
    if (number === -1) return -1
    const row = this.rows.find(number, time, tag)
    return row !== -1 && this.values.has(row) ? row : -1
  }

  /** Sets or deletes a row and logs it. What is too old already is only logged, as in the JVM. */
  protected write(
    key: Uint8Array,
    time: number,
    tag: number,
    value: unknown,
    timestamp: number,
    headers?: RecordHeaders,
  ): void {
    this.assertOpen()
    const bytes = value === null ? null : this.#serializer.serialize(value, this.#serdeContext)
    const old = this.cache === undefined ? null : this.#heldBefore(key, time, tag)
    this.observe(time)
    if (time >= this.heldFrom) this.#set(key, time, tag, value, bytes, timestamp)
    this.#lastPutBytes = bytes
    if (this.cache === undefined) this.log(key, time, tag, bytes, timestamp, headers)
    else this.cache.write(this.#logKeys.kept(key, time, tag), bytes, value, timestamp, old)
  }

  /** Writes the changelog record of a row. */
  protected log(
    key: Uint8Array,
    time: number,
    tag: number,
    bytes: Uint8Array | null,
    timestamp: number,
    headers?: RecordHeaders,
  ): void {
    if (this.#changelog === undefined) return
    this.#logged = true
    this.#changelog.append(this.#logKeys.lent(key, time, tag), bytes, timestamp, headers)
  }

  protected assertOpen(): void {
    if (this.#closed) throw new MillraceError('STORE_CLOSED', { node: this.name })
  }

  #set(key: Uint8Array, time: number, tag: number, value: unknown, bytes: Uint8Array | null, timestamp: number): void {
    let number = this.rows.keyNumber(key)
    let row = number === -1 ? -1 : this.rows.find(number, time, tag)
    const isNew = row === -1 || !this.values.has(row)
    if (bytes === null) {
      if (isNew) return
      this.#undo.remember(row)
      this.#bytes -= key.length + this.values.sizeOf(row)
      this.#entries -= 1
      this.values.unset(row)
      return
    }
    const grown = bytes.length + (isNew ? key.length : -this.values.sizeOf(row))
    if (grown > 0 && this.#bytes + grown > this.#maxBytes) this.#throwFull()
    if (row === -1) {
      if (number === -1) number = this.rows.addKey(key)
      row = this.rows.insert(number, time, tag)
      this.values.reserve(this.rows.capacity)
    }
    this.#undo.remember(row)
    this.values.set(row, value, bytes, timestamp)
    this.#bytes += grown
    if (isNew) this.#entries += 1
  }

  /** The value that will be the one before, once the cache tells of the row; asked for at its first write only. */
  #heldBefore(key: Uint8Array, time: number, tag: number): unknown {
    if (this.cache?.holds(this.#logKeys.lent(key, time, tag)) === true) return null
    const row = this.visibleRow(key, time, tag)
    return row === -1 ? null : this.values.get(row)
  }

  #restoreRow(key: Buffer, time: number, tag: number, value: Buffer | null, timestamp: number): void {
    let number = this.rows.keyNumber(key)
    let row = number === -1 ? -1 : this.rows.find(number, time, tag)
    if (value === null || time < this.heldFrom) {
      if (row !== -1) this.#drop(row)
      return
    }
    if (row === -1) {
      if (number === -1) number = this.rows.addKey(key)
      row = this.rows.insert(number, time, tag)
      this.values.reserve(this.rows.capacity)
    }
    const isNew = !this.values.has(row)
    this.#bytes += value.length + (isNew ? key.length : -this.values.sizeOf(row))
    if (isNew) this.#entries += 1
    else this.values.release(row)
    this.values.setBytes(row, value, timestamp)
  }

  /** Frees what nobody can see any more; with a cache, what is older than the retention once its room is used up. */
  #expire(): void {
    for (let row = this.rows.oldest; row !== -1 && this.rows.timeOf(row) < this.#keptFrom(); row = this.rows.oldest) {
      this.#drop(row)
    }
    // No open transaction needs to be told of these.
    this.values.hasGaps = false
  }

  #keptFrom(): number {
    if (this.cache === undefined) return this.heldFrom
    return this.#bytes > this.cache.maxBytes ? this.#observed.value - this.retentionMs + 1 : Number.NEGATIVE_INFINITY
  }

  #drop(row: number): void {
    if (this.values.has(row)) {
      this.#bytes -= this.rows.keyLength(row) + this.values.sizeOf(row)
      this.#entries -= 1
      this.values.release(row)
    }
    this.rows.remove(row)
  }

  /** Puts the counters right after a row got its old value back. */
  readonly #undone = (row: number, sizeBefore: number, hadBefore: boolean): void => {
    const has = this.values.has(row)
    const keyLength = has === hadBefore ? 0 : this.rows.keyLength(row)
    this.#bytes += this.values.sizeOf(row) - sizeBefore + (has ? keyLength : -keyLength)
    this.#entries += Number(has) - Number(hadBefore)
  }

  /** Removes a row without a value. */
  readonly #forget = (row: number): void => {
    this.rows.remove(row)
  }

  #throwFull(): never {
    throw new MillraceError('STORE_FULL', {
      node: this.name,
      what: `The store ${this.name} reached its bound of ${String(this.#maxBytes)} bytes with ${String(this.#entries)} entries.`,
    })
  }
}
