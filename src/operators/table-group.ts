import type { AggregateState } from '../stores/key-value-state.ts'
import { Change } from './change.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes } from './side-bytes.ts'
import { pairOf, type Site } from './stateless.ts'
import { made, sync, type CombineStep } from './step.ts'

/** A user's function that re-keys an entry of a table. */
export type EntrySelector = (value: unknown, key: unknown) => unknown

/**
 * Re-keys a table's updates for a repartition topic: one record where the group stays, else the old group's first.
 * Kafka Streams: `KTableRepartitionMap`.
 *
 * @param keyBytes - bytes of a new key, to see whether two are the same
 */
export function tableSelect(
  { name, record }: Site,
  selector: EntrySelector,
  keyBytes: KeyBytes,
  next: Forward,
): Forward {
  const select = (key: unknown, value: unknown): readonly unknown[] | undefined => {
    if (value === null) return undefined
    const [newKey, newValue] = pairOf(sync(selector(value, key)))
    return newKey === null || newKey === undefined || newValue === null || newValue === undefined
      ? undefined
      : [newKey, newValue]
  }
  return (key, value, timestamp, headers, old) => {
    record.enter(name, timestamp, headers)
    const after = select(key, value)
    const before = select(key, old ?? null)
    const same =
      after !== undefined &&
      before !== undefined &&
      Buffer.compare(keyBytes(after[0], headers), keyBytes(before[0], headers)) === 0
    if (same) {
      next(after[0], new Change(before[1], after[1]), timestamp, headers)
      return
    }
    if (before !== undefined) next(before[0], new Change(before[1], null), timestamp, headers)
    if (after !== undefined) next(after[0], new Change(null, after[1]), timestamp, headers)
  }
}

/** What an aggregation over a grouped table works with. */
export interface TableAggregationParts extends Site {
  readonly store: AggregateState
  readonly keyBytes: KeyBytes
  readonly sendsOld: boolean
}

/** Takes the old value out and puts the new one in. Kafka Streams: `KTableAggregate`. */
export function tableAggregate(
  parts: TableAggregationParts,
  initializer: () => unknown,
  add: CombineStep,
  subtract: CombineStep,
  next: Forward,
): Forward {
  const { view } = parts.record
  return regroup(parts, (value, key) => made(add(sync(initializer()), value, key, view)), add, subtract, next)
}

/** The same without an initializer: the first value starts. Kafka Streams: `KTableReduce`. */
export function tableReduce(
  parts: TableAggregationParts,
  add: CombineStep,
  subtract: CombineStep,
  next: Forward,
): Forward {
  return regroup(parts, value => value, add, subtract, next)
}

/** @param first - makes the aggregate of a first value */
function regroup(
  { name, record, store, keyBytes, sendsOld }: TableAggregationParts,
  first: (value: unknown, key: unknown) => unknown,
  add: CombineStep,
  subtract: CombineStep,
  next: Forward,
): Forward {
  return (key, value, timestamp, headers) => {
    record.enter(name, timestamp, headers)
    const change = asChange(value)
    const bytes = keyBytes(key, headers)
    const held = store.get(bytes) ?? null
    const time = held === null ? timestamp : Math.max(timestamp, store.lastTimestamp)
    let total: unknown = held
    if (change.old !== null && held !== null) total = made(subtract(held, change.old, key, record.view))
    if (change.new !== null) {
      total = total === null ? first(change.new, key) : made(add(total, change.new, key, record.view))
    }
    store.put(bytes, total, total === null ? timestamp : time)
    next(key, total, time, headers, sendsOld ? held : null)
  }
}

function asChange(value: unknown): Change {
  if (value instanceof Change) return value
  throw new TypeError('a grouped table aggregates changes')
}
