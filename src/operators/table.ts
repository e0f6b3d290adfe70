import type { DropReason } from '../model/record-failure.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { VersionedState, VersionEnd } from '../stores/versioned-state.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { holds, made, type Step } from './step.ts'

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
  /** The input is that of a table with versions: what a step makes of an earlier version is told, too. */
  readonly isVersioned?: boolean
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

/** What the head of a table with versions works with. */
export interface VersionedSourceParts extends Site {
  readonly store: VersionedState
  readonly keyBytes: KeyBytes
  readonly sendsOld: boolean
  readonly dropped: (reason: DropReason) => void
}

/**
 * The head of a table that keeps versions: one that is too old goes nowhere, and whether one is the latest is noted for
 * those who must not take an older one for news. Kafka Streams: `KTableSource` over a versioned store.
 */
export function versionedTableSource(parts: VersionedSourceParts, next: Forward): Forward {
  const { name, record, store, keyBytes, sendsOld, dropped } = parts
  return (key, value, timestamp, headers) => {
    if (key === null) {
      dropped('nullKey')
      return
    }
    record.enter(name, timestamp, headers)
    const bytes = keyBytes(key, headers)
    const old = sendsOld ? (store.get(bytes) ?? null) : null
    const end = store.put(bytes, value, timestamp)
    if (end === 'rejected') {
      dropped('outOfOrderVersion')
      return
    }
    // Another such table may lie between this one and those that ask.
    const { isLatest } = record
    record.isLatest = end === 'latest'
    next(key, value, timestamp, headers, old)
    record.isLatest = isLatest
  }
}

/** What tells of results that were put into a store with versions. */
export interface VersionedResultParts extends Site {
  readonly store: { readonly lastEnd: VersionEnd }
  readonly dropped: (reason: DropReason) => void
}

/**
 * Hands on what was just put into a store with versions: not what came too late to be kept, and what is not the latest under
 * that mark. Kafka Streams: the return code of `KeyValueStoreWrapper.put` in `KStreamAggregate`, `KTableAggregate`.
 */
export function versionedResults({ record, store, dropped }: VersionedResultParts, next: Forward): Forward {
  return (key, value, timestamp, headers, old) => {
    const { lastEnd } = store
    if (lastEnd === 'rejected') {
      dropped('outOfOrderVersion')
      return
    }
    const { isLatest } = record
    record.isLatest = lastEnd === 'latest'
    next(key, value, timestamp, headers, old)
    record.isLatest = isLatest
  }
}

/** Lets only the latest versions of a table through. Kafka Streams: `useVersionedSemantics` of the operators behind one (KIP-914). */
export function latestOnly({ record }: Site, dropped: (reason: DropReason) => void, next: Forward): Forward {
  return (key, value, timestamp, headers, old) => {
    if (record.isLatest) next(key, value, timestamp, headers, old)
    else dropped('outOfOrderVersion')
  }
}

/** Keeps the entries for which the condition is `keep`; others become deletions. Kafka Streams: `KTableFilter`. */
export function tableFilter(parts: TableParts, predicate: Step, keep: boolean, next: Forward): Forward {
  const { name, record, kept, sendsOld, isVersioned = false } = parts
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
    if (sendsOld && !isVersioned && before === null && after === null) return
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

/** New value by a function made once per task; it sees deletions. Kafka Streams: `KTableTransformValues`. */
export function tableTransformValues(parts: TableParts, transformer: Step, next: Forward): Forward {
  const { name, record, kept, sendsOld } = parts
  return (key, value, timestamp, headers, old) => {
    record.enter(name, timestamp, headers)
    const after = made(transformer(value, key, record.view))
    if (kept === undefined) {
      const before = sendsOld ? made(transformer(old ?? null, key, record.view)) : null
      next(key, after, timestamp, headers, before)
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
