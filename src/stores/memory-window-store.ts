import type { RecordHeaders } from '../model/headers.ts'
import { readSafeInt64, writeSafeInt64 } from '../serdes/int64.ts'
import type { LogKeyTail } from './log-keys.ts'
import { MemoryTimedStore, type MemoryTimedStoreOptions } from './memory-timed-store.ts'
import type { WindowEntry, WindowState, WindowVisitor } from './window-state.ts'

const START_BYTES = 8
const SEQUENCE_BYTES = 4
const TAIL_BYTES = START_BYTES + SEQUENCE_BYTES
/** Sequence numbers are a Java `int` and start over at 0. */
const SEQUENCE_MASK = 0x7f_ff_ff_ff

const TAIL: LogKeyTail = {
  bytes: TAIL_BYTES,
  write(into, at, start, sequence) {
    writeSafeInt64(into, start, at)
    into.writeInt32BE(sequence, at + START_BYTES)
  },
}

/** Options of a window store in memory. */
export interface MemoryWindowStoreOptions extends MemoryTimedStoreOptions {
  /** Keep every put of the same key and start. @default false */
  readonly retainsDuplicates?: boolean | undefined
}

/**
 * A window store in memory. Its changelog has keys `key | 8 bytes start | 4 bytes sequence`. Kafka Streams:
 * `RocksDBWindowStore` and `ChangeLoggingWindowBytesStore`.
 */
export class MemoryWindowStore extends MemoryTimedStore implements WindowState {
  override readonly kind = 'window'
  readonly retainsDuplicates: boolean
  #lastTimestamp = -1

  constructor(options: MemoryWindowStoreOptions) {
    super(options, TAIL)
    this.retainsDuplicates = options.retainsDuplicates ?? false
  }

  get lastTimestamp(): number {
    return this.#lastTimestamp
  }

  get(key: Uint8Array, start: number): unknown {
    const row = this.visibleRow(key, start, 0)
    if (row === -1) {
      this.#lastTimestamp = -1
      return undefined
    }
    this.#lastTimestamp = this.values.timestampOf(row)
    return this.values.get(row)
  }

  put(key: Uint8Array, value: unknown, start: number, timestamp: number, headers?: RecordHeaders): void {
    if (!this.retainsDuplicates) {
      this.write(key, start, 0, value, timestamp, headers)
      return
    }
    this.assertOpen()
    this.lastTag.value = (this.lastTag.value + 1) & SEQUENCE_MASK
    // The JVM numbers and logs a null that its store ignores.
    if (value === null) this.log(key, start, this.lastTag.value, null, timestamp, headers)
    else this.write(key, start, this.lastTag.value, value, timestamp, headers)
  }

  fetch(key: Uint8Array, from: number, to: number, visit: WindowVisitor): void {
    this.assertOpen()
    const number = this.rows.keyNumber(key)
    if (number === -1) return
    for (
      let row = this.rows.firstFrom(number, Math.max(from, this.visibleFrom));
      row !== -1;
      row = this.rows.newerOf(row)
    ) {
      if (this.rows.timeOf(row) > to || !this.#visit(row, visit)) return
    }
  }

  fetchBackwards(key: Uint8Array, from: number, to: number, visit: WindowVisitor): void {
    this.assertOpen()
    const number = this.rows.keyNumber(key)
    if (number === -1) return
    const first = Math.max(from, this.visibleFrom)
    for (let row = this.rows.locate(number, to, Number.POSITIVE_INFINITY); row !== -1; row = this.rows.olderOf(row)) {
      if (this.rows.timeOf(row) < first || !this.#visit(row, visit)) return
    }
  }

  fetchAll(from: number, to: number): IterableIterator<WindowEntry> {
    return this.fetchHeld(Math.max(from, this.visibleFrom), to)
  }

  *fetchHeld(from: number, to: number): IterableIterator<WindowEntry> {
    for (const rows of this.rowsByTime(from, to)) yield* this.#entriesOf(rows)
  }

  protected override get takesNull(): boolean {
    return !this.retainsDuplicates
  }

  protected override get heldFrom(): number {
    return this.visibleFrom
  }

  protected override parts(key: Buffer): { rawKey: Buffer; time: number; tag: number } {
    const at = key.length - TAIL_BYTES
    const time = at < 0 ? undefined : readSafeInt64(key, at)
    if (time === undefined) throw new RangeError(`the key of a window store ends with a start and a sequence number`)
    return { rawKey: key.subarray(0, at), time, tag: key.readInt32BE(at + START_BYTES) }
  }

  /** Rows of one time, by key and order of arrival. */
  *#entriesOf(rows: readonly number[]): IterableIterator<WindowEntry> {
    const sorted = rows.map(row => ({ row, key: this.rows.keyAt(row) }))
    sorted.sort((a, b) => Buffer.compare(a.key, b.key) || this.rows.tagOf(a.row) - this.rows.tagOf(b.row))
    for (const { row, key } of sorted) {
      yield [key, this.rows.timeOf(row), this.values.get(row), this.values.timestampOf(row)]
    }
  }

  #visit(row: number, visit: WindowVisitor): boolean {
    if (!this.values.has(row)) return true
    return visit(this.rows.timeOf(row), this.values.get(row), this.values.timestampOf(row))
  }
}
