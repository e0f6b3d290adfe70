import type { DropReason } from '../model/record-failure.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { holds, made, type Step } from './step.ts'

/** The present value of a table under a key; `null` when there is none. Kafka Streams: `KTableValueGetter`. */
export type TableGetter = (keyBytes: Uint8Array, key: unknown) => unknown

/** A table's own store. */
export interface TableStore {
  readonly store: KeyValueState
  readonly keyBytes: KeyBytes
}

/** What a table operator works with. */
export interface TableParts extends Site {
  /** Where the result is kept; `undefined` when it is not. */
  readonly kept: TableStore | undefined
  /** Whether somebody downstream needs the value before. */
  readonly sendsOld: boolean
}

/** The head of a table: null keys are dropped, null values delete. Kafka Streams: `KTableSource`. */
export function tableSource(
  { name, record, kept, sendsOld }: TableParts,
  dropped: (reason: DropReason) => void,
  next: Forward,
): Forward {
  return (key, value, timestamp, headers) => {
    if (key === null) {
      dropped('nullKey')
      return
    }
    if (kept === undefined) {
      next(key, value, timestamp, headers, null)
      return
    }
    record.enter(name, timestamp, headers)
    const bytes = kept.keyBytes(key, headers)
    const old = sendsOld ? (kept.store.get(bytes) ?? null) : null
    kept.store.put(bytes, value, timestamp)
    next(key, value, timestamp, headers, old)
  }
}

/** Keeps the entries for which the condition is `keep`; others become deletions. Kafka Streams: `KTableFilter`. */
export function tableFilter(parts: TableParts, predicate: Step, keep: boolean, next: Forward): Forward {
  const { name, record, kept, sendsOld } = parts
  const kind = (key: unknown, value: unknown): unknown =>
    value !== null && holds(predicate(value, key, record.view)) === keep ? value : null
  return (key, value, timestamp, headers, old) => {
    record.enter(name, timestamp, headers)
    const after = kind(key, value)
    const bytes = kept?.keyBytes(key, headers)
    const before = !sendsOld
      ? null
      : kept === undefined || bytes === undefined
        ? kind(key, old ?? null)
        : (kept.store.get(bytes) ?? null)
    // Neither was there nor is: nothing to tell. Without old values one cannot know, and the deletion goes on.
    if (sendsOld && before === null && after === null) return
    if (kept !== undefined && bytes !== undefined) kept.store.put(bytes, after, timestamp)
    next(key, after, timestamp, headers, before)
  }
}

/** New value; null deletes. Kafka Streams: `KTableMapValues`. */
export function tableMapValues(parts: TableParts, mapper: Step, next: Forward): Forward {
  const { name, record, kept, sendsOld } = parts
  const mapped = (key: unknown, value: unknown): unknown =>
    value === null ? null : made(mapper(value, key, record.view))
  return (key, value, timestamp, headers, old) => {
    record.enter(name, timestamp, headers)
    const after = mapped(key, value)
    if (kept === undefined) {
      next(key, after, timestamp, headers, sendsOld ? mapped(key, old ?? null) : null)
      return
    }
    const bytes = kept.keyBytes(key, headers)
    const before = sendsOld ? (kept.store.get(bytes) ?? null) : null
    kept.store.put(bytes, after, timestamp)
    next(key, after, timestamp, headers, before)
  }
}

/** The updates of a table as a stream. Kafka Streams: `KStreamMapValues` under `toStream`. */
export function tableToStream(next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    next(key, value, timestamp, headers)
  }
}

/** Reads a table from its store. */
export function storeGetter(store: KeyValueState): TableGetter {
  return keyBytes => store.get(keyBytes) ?? null
}

/** Reads a filtered table that is not kept. */
export function filterGetter({ record }: Site, parent: TableGetter, predicate: Step, keep: boolean): TableGetter {
  return (keyBytes, key) => {
    const value = parent(keyBytes, key)
    return value !== null && holds(predicate(value, key, record.view)) === keep ? value : null
  }
}

/** Reads a mapped table that is not kept. */
export function mapValuesGetter({ record }: Site, parent: TableGetter, mapper: Step): TableGetter {
  return (keyBytes, key) => {
    const value = parent(keyBytes, key)
    return value === null ? null : made(mapper(value, key, record.view))
  }
}
