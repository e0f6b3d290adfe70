import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import type { SessionState } from '../stores/session-state.ts'
import type { Forward } from './forward.ts'
import { made, type CombineStep } from './step.ts'
import { giveUpLate, windowed, type Fold, type WindowedAggregationParts } from './windowed-aggregation.ts'

/** Windows of activity. */
export interface SessionWindows {
  /** Silence after which a session ends, in ms. */
  readonly gapMs: number
  readonly graceMs: number
}

/** How the values of a session become one. */
export interface SessionFold extends Fold {
  /** Joins the aggregates of two sessions, the earlier one first. */
  readonly merge: CombineStep
}

/** What an aggregation over a session store works with. */
export interface SessionAggregationParts extends WindowedAggregationParts {
  readonly store: SessionState
}

/**
 * Aggregates per key and session; sessions that grow together are merged. Null values reach the aggregator, results carry no
 * headers. Kafka Streams: `KStreamSessionWindowAggregate`.
 */
export function sessionAggregate(
  parts: SessionAggregationParts,
  { gapMs, graceMs }: SessionWindows,
  { initializer, add, merge }: SessionFold,
  next: Forward,
): Forward {
  const { name, record, store, keyBytes, dropped, sendsOld, emitsFinal, observed } = parts
  const emit = closedSessionEmitter(parts, next)
  const found: { start: number; end: number; value: unknown }[] = []
  const visit = (start: number, end: number, value: unknown): boolean => {
    found.push({ start, end, value })
    return true
  }
  return (key, value, timestamp, headers) => {
    if (key === null) {
      dropped('nullKey')
      return
    }
    if (timestamp > observed.value) observed.value = timestamp
    const closeTime = observed.value - graceMs - gapMs
    const bytes = keyBytes(key, headers)
    record.enter(name, timestamp, headers)
    found.length = 0
    store.findSessions(bytes, timestamp - gapMs, timestamp + gapMs, visit)
    let start = timestamp
    let end = timestamp
    let total = initializer()
    for (const session of found) {
      total = made(merge(total, session.value, key, record.view))
      start = Math.min(start, session.start)
      end = Math.max(end, session.end)
    }
    if (end < closeTime) {
      giveUpLate(parts, key, value, timestamp, headers)
    } else {
      if (start !== timestamp || end !== timestamp) {
        for (const session of found) {
          // What is told in between may have stepped on to other headers.
          record.enter(name, timestamp, headers)
          store.put(bytes, session.start, session.end, null, timestamp)
          if (emitsFinal) continue
          const old = sendsOld ? session.value : null
          next(windowed(key, session.start, session.end), null, session.end, NO_HEADERS, old)
        }
      }
      record.enter(name, timestamp, headers)
      const after = made(add(total, value, key, record.view))
      store.put(bytes, start, end, after, timestamp)
      if (!emitsFinal) next(windowed(key, start, end), after, end, NO_HEADERS, null)
    }
    if (emitsFinal) emit(closeTime, headers)
  }
}

/**
 * Emits sessions once, when they have closed: those that end before the close time, with the headers of the record that
 * closed them. What the store does not show any more is lost, as in the JVM, and counted.
 */
function closedSessionEmitter(
  { store, readKey, dropped, lastClose, name, record }: SessionAggregationParts,
  next: Forward,
): (closeTime: number, headers: RecordHeaders) => void {
  return (closeTime, headers) => {
    const upper = closeTime - 1
    if (closeTime <= lastClose.value || upper < 0) return
    const lower = lastClose.value === -1 ? 0 : lastClose.value
    lastClose.value = closeTime
    const lost = store.countUnseen(lower, upper)
    if (lost > 0) dropped('windowNeverEmitted', lost)
    for (const [keyBytes, start, end, value] of store.fetchHeld(lower, upper)) {
      record.enter(name, end, headers)
      record.releases.release(() => {
        next(windowed(readKey(keyBytes), start, end), value, end, headers, null)
      })
    }
  }
}
