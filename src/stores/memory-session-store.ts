import { readSafeInt64, writeSafeInt64 } from '../serdes/int64.ts'
import type { LogKeyTail } from './log-keys.ts'
import { MemoryTimedStore, type MemoryTimedStoreOptions } from './memory-timed-store.ts'
import type { SessionEntry, SessionState, SessionVisitor } from './session-state.ts'

const BOUND_BYTES = 8
/** The JVM keeps sessions in segments of half the retention, but at least this long. */
const SEGMENT_MS_MIN = 60_000

const TAIL: LogKeyTail = {
  bytes: 2 * BOUND_BYTES,
  write(into, at, end, start) {
    writeSafeInt64(into, end, at)
    writeSafeInt64(into, start, at + BOUND_BYTES)
  },
}

/**
 * A session store in memory. Its changelog has keys `key | 8 bytes end | 8 bytes start`. Kafka Streams:
 * `RocksDBSessionStore` and `ChangeLoggingSessionBytesStore`.
 */
export class MemorySessionStore extends MemoryTimedStore implements SessionState {
  override readonly kind = 'session'

  constructor(options: MemoryTimedStoreOptions) {
    super(options, TAIL)
  }

  get(key: Uint8Array, start: number, end: number): unknown {
    const row = this.visibleRow(key, end, start)
    return row === -1 ? undefined : this.values.get(row)
  }

  put(key: Uint8Array, start: number, end: number, value: unknown, timestamp: number): void {
    this.write(key, end, start, value, timestamp)
  }

  findSessions(key: Uint8Array, earliestEnd: number, latestStart: number, visit: SessionVisitor): void {
    this.assertOpen()
    const { rows, values } = this
    const number = rows.keyNumber(key)
    if (number === -1) return
    for (
      let row = rows.firstFrom(number, Math.max(earliestEnd, this.visibleFrom));
      row !== -1;
      row = rows.newerOf(row)
    ) {
      const start = rows.tagOf(row)
      if (start > latestStart || !values.has(row)) continue
      if (!visit(start, rows.timeOf(row), values.get(row))) return
    }
  }

  fetchAll(from: number, to: number): IterableIterator<SessionEntry> {
    return this.fetchHeld(Math.max(from, this.visibleFrom), to)
  }

  *fetchHeld(from: number, to: number): IterableIterator<SessionEntry> {
    for (const rows of this.rowsByTime(from, to)) yield* this.#entriesOf(rows)
  }

  /** The JVM's scan for final results gives what its segments still hold: a segment goes once all of it is older than the retention. */
  protected override get heldFrom(): number {
    if (this.cache !== undefined) return this.visibleFrom
    const segmentMs = Math.max(Math.trunc(this.retentionMs / 2), SEGMENT_MS_MIN)
    return Math.floor((this.observedMs - this.retentionMs) / segmentMs) * segmentMs
  }

  protected override parts(key: Buffer): { rawKey: Buffer; time: number; tag: number } {
    const at = key.length - 2 * BOUND_BYTES
    const time = at < 0 ? undefined : readSafeInt64(key, at)
    const tag = at < 0 ? undefined : readSafeInt64(key, at + BOUND_BYTES)
    if (time === undefined || tag === undefined)
      throw new RangeError('the key of a session store ends with the bounds of a session')
    return { rawKey: key.subarray(0, at), time, tag }
  }

  /** Sessions of one end, by start and key. */
  *#entriesOf(rows: readonly number[]): IterableIterator<SessionEntry> {
    const sorted = rows.map(row => ({ row, key: this.rows.keyAt(row) }))
    sorted.sort((a, b) => this.rows.tagOf(a.row) - this.rows.tagOf(b.row) || Buffer.compare(a.key, b.key))
    for (const { row, key } of sorted) yield [key, this.rows.tagOf(row), this.rows.timeOf(row), this.values.get(row)]
  }
}
