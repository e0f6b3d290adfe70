import type { AbortedTransaction } from '../../src/kafka/records/abort-filter.ts'
import { type IsolationLevel, RecordCursor } from '../../src/kafka/records/record-cursor.ts'

/** A record as a test compares it. */
export interface ReadRecord {
  readonly offset: number
  readonly timestamp: number
  readonly key: string | null
  readonly value: string | null
  readonly headers: readonly (readonly [name: string, value: string | null])[]
}

/** Where and how a block is read; partition `orders-3` from offset 0, read_committed, by default. */
export interface ReadOptions {
  readonly position?: number
  readonly aborted?: readonly AbortedTransaction[]
  readonly isolation?: IsolationLevel
}

/** All that the cursor shows of a block. */
export function readBlock(records: Buffer, options: ReadOptions = {}): { records: ReadRecord[]; position: number } {
  const cursor = new RecordCursor()
  cursor.reset({
    topic: 'orders',
    partition: 3,
    records,
    position: options.position ?? 0,
    aborted: options.aborted ?? [],
    isolation: options.isolation ?? 'read_committed',
  })
  const shown: ReadRecord[] = []
  while (cursor.next()) {
    shown.push({
      offset: cursor.offset,
      timestamp: cursor.timestamp,
      key: cursor.key?.toString() ?? null,
      value: cursor.value?.toString() ?? null,
      headers: [...cursor.headers].map(([name, value]) => [
        name,
        value === null ? null : Buffer.from(value).toString(),
      ]),
    })
  }
  return { records: shown, position: cursor.position }
}
