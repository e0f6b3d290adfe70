import type { RecordHeaders } from '../model/headers.ts'
import type { WindowState } from '../stores/window-state.ts'
import type { Forward } from './forward.ts'
import { made } from './step.ts'
import { giveUpLate, windowed, type Fold, type WindowedAggregationParts } from './windowed-aggregation.ts'

/** Windows of one size: tumbling, hopping, or the one that never closes. */
export interface TimeWindows {
  /** In ms; infinite for the window that never closes. */
  readonly sizeMs: number
  /** Distance of two starts, in ms; infinite when there is only one. */
  readonly advanceMs: number
  readonly graceMs: number
  /** Start of the first window, in ms. */
  readonly firstStartMs: number
}

/** What an aggregation over a window store works with. */
export interface WindowStoreAggregationParts extends WindowedAggregationParts {
  readonly store: WindowState
}

/** The end of a window in a key: the window that never closes ends with the last integer a number holds. */
export function windowEnd(start: number, sizeMs: number): number {
  return Math.min(start + sizeMs, Number.MAX_SAFE_INTEGER)
}

/** Aggregates per key and window of time. Null values reach the aggregator. Kafka Streams: `KStreamWindowAggregate`. */
export function timeWindowAggregate(
  parts: WindowStoreAggregationParts,
  { sizeMs, advanceMs, graceMs, firstStartMs }: TimeWindows,
  { initializer, add }: Fold,
  next: Forward,
): Forward {
  const { name, record, store, keyBytes, dropped, sendsOld, emitsFinal, observed } = parts
  const emit = finalEmitter(parts, sizeMs, advanceMs, next)
  return (key, value, timestamp, headers) => {
    if (key === null) {
      dropped('nullKey')
      return
    }
    if (timestamp > observed.value) observed.value = timestamp
    const closeTime = observed.value - graceMs
    const bytes = keyBytes(key, headers)
    let isTaken = false
    for (let start = firstStart(timestamp, sizeMs, advanceMs, firstStartMs); start <= timestamp; start += advanceMs) {
      if (start + sizeMs <= closeTime) continue
      isTaken = true
      record.enter(name, timestamp, headers)
      const held = store.get(bytes, start)
      const time = held === undefined ? timestamp : Math.max(timestamp, store.lastTimestamp)
      const before = held === undefined ? initializer() : held
      const after = made(add(before, value, key, record.view))
      store.put(bytes, after, start, after === null ? timestamp : time)
      if (!emitsFinal) {
        next(windowed(key, start, windowEnd(start, sizeMs)), after, time, headers, sendsOld ? before : null)
      }
    }
    if (!isTaken) giveUpLate(parts, key, value, timestamp, headers)
    if (emitsFinal) emit(closeTime, headers)
  }
}

/**
 * Emits windows once, when they have closed: called after each record, with the time up to which windows are closed
 * (`sizeMs` after a start). What the store does not show any more is lost, as in the JVM, and counted.
 * Kafka Streams: `AbstractKStreamTimeWindowAggregateProcessor.maybeForwardFinalResult`.
 */
export function finalEmitter(
  { store, readKey, dropped, lastClose, name, record }: WindowStoreAggregationParts,
  sizeMs: number,
  advanceMs: number,
  next: Forward,
  endOf: (start: number) => number = start => windowEnd(start, sizeMs),
): (closeTime: number, headers: RecordHeaders) => void {
  return (closeTime, headers) => {
    if (closeTime <= lastClose.value) return
    const upper = closeTime - sizeMs
    if (!(upper >= 0)) return
    const lower = lastClose.value === -1 ? 0 : Math.max(0, lastClose.value - sizeMs + 1)
    lastClose.value = closeTime
    // No window starts between the two: most records only move time on within a window.
    if (Math.floor(upper / advanceMs) * advanceMs < lower) return
    const lost = store.countUnseen(lower, upper)
    if (lost > 0) dropped('windowNeverEmitted', lost)
    for (const [keyBytes, start, value, timestamp] of store.fetchHeld(lower, upper)) {
      record.enter(name, timestamp, headers)
      record.releases.release(() => {
        next(windowed(readKey(keyBytes), start, endOf(start)), value, timestamp, headers, null)
      })
    }
  }
}

function firstStart(timestamp: number, sizeMs: number, advanceMs: number, firstStartMs: number): number {
  if (advanceMs === Number.POSITIVE_INFINITY) return firstStartMs
  return Math.floor(Math.max(0, timestamp - sizeMs + advanceMs) / advanceMs) * advanceMs
}
