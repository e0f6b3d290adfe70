import type { DropReason } from '../model/record-failure.ts'
import type { AggregateState } from '../stores/key-value-state.ts'
import type { Forward } from './forward.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { made, sync, type CombineStep } from './step.ts'

/** What an aggregation works with. */
export interface AggregationParts extends Site {
  readonly store: AggregateState
  /** The bytes of the record's key. */
  readonly keyBytes: KeyBytes
  readonly dropped: (reason: DropReason) => void
  /** Whether somebody downstream needs the value before. */
  readonly sendsOld: boolean
}

/** Counts records per key; null keys and values are dropped. Kafka Streams: `KStreamAggregate` under `count`. */
export function count({ name, record, store, keyBytes, dropped, sendsOld }: AggregationParts, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    if (key === null || value === null) {
      dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    record.enter(name, timestamp, headers)
    const bytes = keyBytes(key, headers)
    const held = store.get(bytes)
    const before = typeof held === 'number' ? held : 0
    const time = held === undefined ? timestamp : Math.max(timestamp, store.lastTimestamp)
    store.put(bytes, before + 1, time)
    // The JVM hands on the initializer's 0 as the value before, not "none": KStreamAggregate does so for any aggregate.
    next(key, before + 1, time, headers, sendsOld ? before : null)
  }
}

/** Builds an aggregate per key. Kafka Streams: `KStreamAggregate`. */
export function aggregate(
  { name, record, store, keyBytes, dropped, sendsOld }: AggregationParts,
  initializer: () => unknown,
  aggregator: CombineStep,
  next: Forward,
): Forward {
  return (key, value, timestamp, headers) => {
    if (key === null || value === null) {
      dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    record.enter(name, timestamp, headers)
    const bytes = keyBytes(key, headers)
    const held = store.get(bytes)
    const time = held === undefined ? timestamp : Math.max(timestamp, store.lastTimestamp)
    const before = held === undefined ? sync(initializer()) : held
    const after = made(aggregator(before, value, key, record.view))
    store.put(bytes, after, after === null ? timestamp : time)
    next(key, after, time, headers, sendsOld ? before : null)
  }
}

/** Combines the values of a key; the first value starts. Kafka Streams: `KStreamReduce`. */
export function reduce(
  { name, record, store, keyBytes, dropped, sendsOld }: AggregationParts,
  reducer: CombineStep,
  next: Forward,
): Forward {
  return (key, value, timestamp, headers) => {
    if (key === null || value === null) {
      dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    record.enter(name, timestamp, headers)
    const bytes = keyBytes(key, headers)
    const held = store.get(bytes)
    const time = held === undefined ? timestamp : Math.max(timestamp, store.lastTimestamp)
    const after = held === undefined ? value : made(reducer(held, value, key, record.view))
    store.put(bytes, after, after === null ? timestamp : time)
    next(key, after, time, headers, sendsOld ? (held ?? null) : null)
  }
}
