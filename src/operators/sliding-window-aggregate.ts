import type { RecordHeaders } from '../model/headers.ts'
import type { Forward } from './forward.ts'
import { made } from './step.ts'
import { finalEmitter, type WindowStoreAggregationParts } from './time-window-aggregate.ts'
import { giveUpLate, windowed, type Fold } from './windowed-aggregation.ts'

/** Windows around each record. */
export interface SlidingWindows {
  /** Largest time difference of two records of a window, in ms. */
  readonly differenceMs: number
  readonly graceMs: number
}

/**
 * Aggregates per key and sliding window: a window ends or begins with each record. Null values are dropped. The record's
 * windows are visited newest first. Kafka Streams: `KStreamSlidingWindowAggregate` with a store that scans backwards.
 */
export function slidingWindowAggregate(
  parts: WindowStoreAggregationParts,
  windows: SlidingWindows,
  fold: Fold,
  next: Forward,
): Forward {
  const { name, record, dropped, emitsFinal, observed, keyBytes } = parts
  const { differenceMs, graceMs } = windows
  const update = new SlidingUpdate(parts, windows, fold, next)
  const emit = finalEmitter(parts, differenceMs + 1, 1, next, start => start + differenceMs)
  return (key, value, timestamp, headers) => {
    if (key === null || value === null) {
      dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    if (timestamp > observed.value) observed.value = timestamp
    const closeTime = observed.value - graceMs
    if (timestamp + 1 + differenceMs <= closeTime) {
      giveUpLate(parts, key, value, timestamp, headers)
      return
    }
    record.enter(name, timestamp, headers)
    update.begin(key, keyBytes(key, headers), value, timestamp, headers, closeTime)
    if (timestamp < differenceMs) update.early()
    else update.usual()
    if (emitsFinal) emit(closeTime, headers)
  }
}

/** An aggregate of a window as it was found. */
interface Found {
  has: boolean
  value: unknown
  timestamp: number
}

/** One record's work on the windows around it; one object per task, reused for every record. */
class SlidingUpdate {
  readonly #parts: WindowStoreAggregationParts
  readonly #differenceMs: number
  readonly #fold: Fold
  readonly #next: Forward
  #key: unknown
  #bytes: Uint8Array = Buffer.alloc(0)
  #value: unknown
  #timestamp = 0
  #headers: RecordHeaders | undefined
  #closeTime = 0
  readonly #left: Found = { has: false, value: null, timestamp: -1 }
  readonly #right: Found = { has: false, value: null, timestamp: -1 }
  readonly #combined: Found = { has: false, value: null, timestamp: -1 }
  /** Time of the record before this one; −1 when none is known. */
  #previous = -1
  #isComplete = false
  #hasLeft = false
  #hasRight = false
  /** Starts of the windows seen. */
  readonly #starts = new Set<number>()

  constructor(parts: WindowStoreAggregationParts, { differenceMs }: SlidingWindows, fold: Fold, next: Forward) {
    this.#parts = parts
    this.#differenceMs = differenceMs
    this.#fold = fold
    this.#next = next
  }

  begin(
    key: unknown,
    bytes: Uint8Array,
    value: unknown,
    timestamp: number,
    headers: RecordHeaders,
    closeTime: number,
  ): void {
    this.#key = key
    this.#bytes = bytes
    this.#value = value
    this.#timestamp = timestamp
    this.#headers = headers
    this.#closeTime = closeTime
    this.#left.has = false
    this.#right.has = false
    this.#combined.has = false
    this.#previous = -1
    this.#hasLeft = false
    this.#hasRight = false
    this.#starts.clear()
  }

  /** A record later than the first window's end. */
  usual(): void {
    const timestamp = this.#timestamp
    if (this.#isFoundComplete()) return
    const previousRight = this.#previous + 1
    if (this.#previous !== -1 && !this.#starts.has(previousRight) && previousRight + this.#differenceMs >= timestamp) {
      this.#start(previousRight)
    }
    if (!this.#hasLeft) {
      const start = timestamp - this.#differenceMs
      const isFilled = this.#previous !== -1 && start <= this.#previous
      if (isFilled && this.#left.has) this.#add(start, this.#left.value, timestamp)
      else this.#start(start)
    }
    if (!this.#hasRight) this.#addRight()
  }

  /** A record whose left window would begin before time 0: all of them share the window that starts there. */
  early(): void {
    const timestamp = this.#timestamp
    const { store } = this.#parts
    store.fetch(this.#bytes, 0, timestamp + 1, this.#visitEarly)
    const combined = this.#combined
    if (!this.#right.has && combined.has && combined.timestamp > timestamp) {
      keep(this.#right, combined.value, combined.timestamp)
    }
    if (!this.#hasRight) this.#addRight()
    if (this.#previous !== -1 && !this.#starts.has(this.#previous + 1)) this.#start(this.#previous + 1)
    if (combined.has) this.#add(0, combined.value, combined.timestamp)
    else this.#start(0)
  }

  /** Adds the record to the windows there are. Returns whether a record of the same time has made all there can be. */
  #isFoundComplete(): boolean {
    const from = Math.max(0, this.#timestamp - 2 * this.#differenceMs)
    this.#isComplete = false
    this.#parts.store.fetchBackwards(this.#bytes, from, this.#timestamp + 1, this.#visit)
    return this.#isComplete
  }

  readonly #visit = (start: number, value: unknown, time: number): boolean => {
    const timestamp = this.#timestamp
    const end = start + this.#differenceMs
    this.#starts.add(start)
    if (start === timestamp + 1) {
      this.#hasRight = true
      return true
    }
    if (end > timestamp) {
      if (!this.#right.has) keep(this.#right, value, time)
      this.#add(start, value, time)
      return true
    }
    if (end === timestamp) {
      this.#hasLeft = true
      this.#add(start, value, time)
      if (time < timestamp) {
        this.#previous = time
        return true
      }
      this.#isComplete = true
      return false
    }
    keep(this.#left, value, time)
    this.#previous = time
    return false
  }

  readonly #visitEarly = (start: number, value: unknown, time: number): boolean => {
    this.#starts.add(start)
    if (start === 0) {
      keep(this.#combined, value, time)
      if (time < this.#timestamp) this.#previous = time
    } else if (start <= this.#timestamp) {
      keep(this.#right, value, time)
      this.#add(start, value, time)
    } else {
      this.#hasRight = true
    }
    return true
  }

  /** The record's right window holds what came after it. */
  #addRight(): void {
    const { value, timestamp, has } = this.#right
    if (!has || timestamp <= this.#timestamp) return
    const start = this.#timestamp + 1
    this.#parts.store.put(this.#bytes, value, start, timestamp)
    this.#forward(start, value, timestamp, null)
  }

  /** A new window that holds the record alone. */
  #start(start: number): void {
    this.#enter()
    this.#add(start, this.#fold.initializer(), this.#timestamp)
  }

  #add(start: number, before: unknown, time: number): void {
    if (start + this.#differenceMs < this.#closeTime) return
    const { store, record } = this.#parts
    this.#enter()
    const after = made(this.#fold.add(before, this.#value, this.#key, record.view))
    const newTime = before === null ? this.#timestamp : Math.max(this.#timestamp, time)
    store.put(this.#bytes, after, start, after === null ? this.#timestamp : newTime)
    this.#forward(start, after, newTime, before)
  }

  #enter(): void {
    const { name, record } = this.#parts
    if (this.#headers !== undefined) record.enter(name, this.#timestamp, this.#headers)
  }

  #forward(start: number, value: unknown, timestamp: number, before: unknown): void {
    const { emitsFinal, sendsOld } = this.#parts
    if (emitsFinal || this.#headers === undefined) return
    const key = windowed(this.#key, start, start + this.#differenceMs)
    this.#next(key, value, timestamp, this.#headers, sendsOld ? before : null)
  }
}

function keep(found: Found, value: unknown, timestamp: number): void {
  found.has = true
  found.value = value
  found.timestamp = timestamp
}
