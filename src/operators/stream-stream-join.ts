import type { DropReason } from '../model/record-failure.ts'
import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import type { WindowState, WindowVisitor } from '../stores/window-state.ts'
import type { Forward } from './forward.ts'
import type { LongVariable } from './long-variable.ts'
import type { KeyBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'
import { made } from './step.ts'
import type { JoinStep } from './stream-table-join.ts'
import type { UnmatchedRecords } from './unmatched-records.ts'

/** What a side of a stream-stream join puts its records into. */
export interface JoinWindowParts extends Site {
  readonly store: WindowState
  readonly keyBytes: KeyBytes
}

/** Keeps each record for those of the other side, once it has met those that are there. Kafka Streams: `KStreamJoinWindow`. */
export function joinWindow({ name, record, store, keyBytes }: JoinWindowParts, next: Forward): Forward {
  return (key, value, timestamp, headers) => {
    next(key, value, timestamp, headers)
    if (key === null) return
    record.enter(name, timestamp, headers)
    store.put(keyBytes(key, headers), value, timestamp, timestamp, headers)
  }
}

/** What a side of a stream-stream join works with. */
export interface StreamJoinParts extends Site {
  /** The other side's records. */
  readonly other: WindowState
  /** The bytes of the key, as both windows have them. */
  readonly keyBytes: KeyBytes
  readonly joiner: JoinStep
  readonly isLeft: boolean
  /** Whether a record of this side gives a result without a partner, too. */
  readonly isOuter: boolean
  /** How far the partner may lie before and after a record of this side, in ms. */
  readonly beforeMs: number
  readonly afterMs: number
  /** Highest event time of both sides. */
  readonly time: LongVariable
  /** Records of outer sides without a partner so far; `undefined` in an inner join. */
  readonly unmatched: UnmatchedRecords | undefined
  readonly dropped: (reason: DropReason) => void
}

/** The record a join is looking for partners of. */
class OwnRecord {
  key: unknown = null
  value: unknown = null
  timestamp = -1
  headers: RecordHeaders = NO_HEADERS
  keyBytes: Uint8Array = Buffer.alloc(0)
  /** Whether it has met a partner; in a self join, itself. */
  matched = false

  set(key: unknown, value: unknown, timestamp: number, headers: RecordHeaders, keyBytes: Uint8Array): void {
    this.key = key
    this.value = value
    this.timestamp = timestamp
    this.headers = headers
    this.keyBytes = keyBytes
    this.matched = false
  }
}

/** Pairs of records that are close in time. Kafka Streams: `KStreamKStreamJoin`. */
export function streamStreamJoin(parts: StreamJoinParts, next: Forward): Forward {
  const { name, record, other, keyBytes, isLeft, isOuter, beforeMs, afterMs, time, unmatched, dropped } = parts
  const { joiner } = parts
  const join = (own: unknown, partner: unknown, key: unknown): unknown =>
    made(isLeft ? joiner(own, partner, key) : joiner(partner, own, key))
  // One visitor for all records: the join is never entered again while it visits.
  const own = new OwnRecord()
  const meet: WindowVisitor = (partnerTime, partner) => {
    own.matched = true
    record.enter(name, own.timestamp, own.headers)
    unmatched?.matched(own.keyBytes, partnerTime, !isLeft, own.timestamp)
    next(own.key, join(own.value, partner, own.key), Math.max(own.timestamp, partnerTime), own.headers)
    return true
  }
  return (key, value, timestamp, headers) => {
    if (timestamp > time.value) time.value = timestamp
    record.enter(name, timestamp, headers)
    if (key === null || value === null) {
      if (key === null && value !== null && isOuter) next(key, join(value, null, key), timestamp, headers)
      else dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    if (timestamp === time.value) unmatched?.emitClosed(isLeft, timestamp, headers, next)
    const bytes = keyBytes(key, headers)
    const to = Math.max(0, timestamp + afterMs)
    own.set(key, value, timestamp, headers, bytes)
    other.fetch(bytes, Math.max(0, timestamp - beforeMs), to, meet)
    if (own.matched || !isOuter) return
    record.enter(name, timestamp, headers)
    if (unmatched === undefined || to < time.value) next(key, join(value, null, key), timestamp, headers)
    else unmatched.add(bytes, value, timestamp, isLeft)
  }
}

/** What a join of a stream with itself over one store works with. */
export interface SelfJoinParts extends Site {
  readonly store: WindowState
  readonly keyBytes: KeyBytes
  readonly joiner: JoinStep
  readonly beforeMs: number
  readonly afterMs: number
  /** How long the store keeps records, in ms. */
  readonly retentionMs: number
  /** Highest event time of the records that can join. */
  readonly time: LongVariable
  readonly dropped: (reason: DropReason) => void
}

/**
 * The inner join of a stream with itself, with one store for both sides; in the order of results that two stores give.
 * Kafka Streams: `KStreamKStreamSelfJoin`.
 */
export function streamSelfJoin(parts: SelfJoinParts, next: Forward): Forward {
  const { name, record, store, keyBytes, joiner, beforeMs, afterMs, retentionMs, time, dropped } = parts
  const own = new OwnRecord()
  const emit = (left: unknown, right: unknown, timestamp: number): void => {
    record.enter(name, own.timestamp, own.headers)
    next(own.key, made(joiner(left, right, own.key)), timestamp, own.headers)
  }
  const meetAsLeft: WindowVisitor = (partnerTime, partner) => {
    emit(own.value, partner, Math.max(own.timestamp, partnerTime))
    return true
  }
  const meetAsRight: WindowVisitor = (partnerTime, partner) => {
    // Results follow the order of time: the pair of the record with itself comes before later ones.
    if (partnerTime > own.timestamp && !own.matched) {
      own.matched = true
      emit(own.value, own.value, own.timestamp)
    }
    emit(partner, own.value, Math.max(own.timestamp, partnerTime))
    return true
  }
  return (key, value, timestamp, headers) => {
    if (key === null || value === null) {
      dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    const bytes = keyBytes(key, headers)
    own.set(key, value, timestamp, headers, bytes)
    if (timestamp > time.value) time.value = timestamp
    // A record older than what is kept would not find itself in a store of its own either.
    if (timestamp <= time.value - retentionMs + 1) own.matched = true
    store.fetch(bytes, Math.max(0, timestamp - beforeMs), Math.max(0, timestamp + afterMs), meetAsLeft)
    store.fetch(bytes, Math.max(0, timestamp - afterMs), Math.max(0, timestamp + beforeMs), meetAsRight)
    if (!own.matched) emit(own.value, own.value, own.timestamp)
  }
}
