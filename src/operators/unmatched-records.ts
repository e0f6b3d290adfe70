import type { RecordHeaders } from '../model/headers.ts'
import { writeSafeInt64, readSafeInt64 } from '../serdes/int64.ts'
import type { ErasedSerde } from '../serdes/erased-serde.ts'
import { NO_HEADERS } from '../model/headers.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { Forward } from './forward.ts'
import type { LongVariable } from './long-variable.ts'
import type { Site } from './stateless.ts'
import { made } from './step.ts'
import type { JoinStep } from './stream-table-join.ts'

const TIME_BYTES = 8
const HEAD_BYTES = TIME_BYTES + 1
const LEFT = 1
const RIGHT = 0
/** First byte of a list of values: how nulls in it would be told. */
const LIST_FORMAT = 1
const COUNT_BYTES = 4
const LENGTH_BYTES = 4

/** What the unmatched records of a left or outer join are kept with. */
export interface UnmatchedParts extends Site {
  /** The store both sides share; keys and values are bytes. */
  readonly store: KeyValueState
  readonly key: ErasedSerde
  readonly left: ErasedSerde
  readonly right: ErasedSerde
  /** Topic that serdes are told. */
  readonly topic: string
  readonly joiner: JoinStep
  /** How far a right record may lie before and after a left one, in ms. */
  readonly beforeMs: number
  readonly afterMs: number
  readonly graceMs: number
  /** Highest event time of both sides. */
  readonly time: LongVariable
  /** Lowest time that may be in the store; an upper bound saves looking. */
  readonly minTime: LongVariable
  /** No record in the store is older: deletions stay in the way of a scan until the commit, so it begins here. */
  readonly firstTime: LongVariable
}

/**
 * Records of outer sides that wait for a partner, in the order of time, right ones before left ones, and key. Kafka Streams:
 * the shared store of `KStreamKStreamJoin` (`ListValueStore` of `TimestampedKeyAndJoinSide`).
 */
export class UnmatchedRecords {
  readonly #parts: UnmatchedParts

  constructor(parts: UnmatchedParts) {
    this.#parts = parts
  }

  /** Adds a record without a partner. */
  add(keyBytes: Uint8Array, value: unknown, timestamp: number, isLeft: boolean): void {
    const { store, minTime, firstTime, left, right, topic } = this.#parts
    if (timestamp < minTime.value) minTime.value = timestamp
    if (timestamp < firstTime.value) firstTime.value = timestamp
    const key = sideKey(keyBytes, timestamp, isLeft)
    const bytes = (isLeft ? left : right).serialize(value, { topic, side: 'value', headers: NO_HEADERS })
    store.put(key, appended(asBuffer(store.get(key)), bytes, isLeft), timestamp)
  }

  /**
   * Takes a record out that has found a partner.
   *
   * @param partnerTime - time of the record that waited
   * @param isLeft - side of the record that waited
   * @param timestamp - time of the record it met
   */
  matched(keyBytes: Uint8Array, partnerTime: number, isLeft: boolean, timestamp: number): void {
    const { store } = this.#parts
    const key = sideKey(keyBytes, partnerTime, isLeft)
    if (store.has(key)) store.put(key, null, timestamp)
  }

  /**
   * Gives the results of records that no partner can come for any more. As in the JVM: looked for only when the lowest time
   * says that there may be some, and up to the first records of both sides that are still to wait.
   *
   * @param isLeft - side of the record that moved the time
   */
  emitClosed(isLeft: boolean, timestamp: number, headers: RecordHeaders, next: Forward): void {
    const { name, record, store, time, minTime, firstTime, beforeMs, afterMs, graceMs } = this.#parts
    if (minTime.value + (isLeft ? afterMs : beforeMs) + graceMs >= time.value) return
    minTime.value = Number.MAX_SAFE_INTEGER
    let previous: Buffer | undefined
    let leftWaits = false
    let rightWaits = false
    const from = timeKey(firstTime.value)
    firstTime.value = Number.MAX_SAFE_INTEGER
    for (const [view, list] of store.scan({ from })) {
      const heldTime = readSafeInt64(view, 0) ?? 0
      const heldLeft = view[TIME_BYTES] === LEFT
      minTime.value = heldTime
      if (leftWaits && rightWaits) {
        firstTime.value = Math.min(firstTime.value, heldTime)
        break
      }
      if (heldTime + (heldLeft ? afterMs : beforeMs) + graceMs >= time.value) {
        if (heldLeft) leftWaits = true
        else rightWaits = true
        if (heldTime < firstTime.value) firstTime.value = heldTime
        // The JVM meets every value of a key on its own: a second one of the key that is the last to wait ends the scan.
        if (leftWaits && rightWaits && countOf(list) > 1) break
        continue
      }
      const key = Buffer.from(view)
      this.#emit(key, asBuffer(list), heldTime, heldLeft, headers, next)
      record.enter(name, timestamp, headers)
      // Taken out one behind, as in the JVM: its changelog shows the order.
      if (previous !== undefined) store.put(previous, null, timestamp)
      previous = key
    }
    if (previous !== undefined) store.put(previous, null, timestamp)
  }

  #emit(
    key: Buffer,
    list: Buffer | undefined,
    time: number,
    isLeft: boolean,
    headers: RecordHeaders,
    next: Forward,
  ): void {
    const { key: keySerde, left, right, topic, joiner, name, record } = this.#parts
    const decoded = keySerde.deserialize(key.subarray(HEAD_BYTES), { topic, side: 'key', headers: NO_HEADERS })
    for (const item of itemsOf(list)) {
      record.enter(name, time, headers)
      record.releases.release(() => {
        const value = (isLeft ? left : right).deserialize(item, { topic, side: 'value', headers: NO_HEADERS })
        next(decoded, made(isLeft ? joiner(value, null, decoded) : joiner(null, value, decoded)), time, headers)
      })
    }
  }
}

function timeKey(time: number): Buffer {
  const key = Buffer.allocUnsafe(TIME_BYTES)
  writeSafeInt64(key, time, 0)
  return key
}

function sideKey(keyBytes: Uint8Array, timestamp: number, isLeft: boolean): Buffer {
  const key = Buffer.allocUnsafe(HEAD_BYTES + keyBytes.length)
  writeSafeInt64(key, timestamp, 0)
  key[TIME_BYTES] = isLeft ? LEFT : RIGHT
  key.set(keyBytes, HEAD_BYTES)
  return key
}

/** `01 | 4 bytes count | per item: 4 bytes length, 1 byte side, value`. Kafka Streams: `ListSerializer` of `LeftOrRightValue`. */
function appended(list: Buffer | undefined, value: Uint8Array, isLeft: boolean): Buffer {
  const before = list ?? Buffer.of(LIST_FORMAT, 0, 0, 0, 0)
  const bytes = Buffer.allocUnsafe(before.length + LENGTH_BYTES + 1 + value.length)
  bytes.set(before, 0)
  bytes.writeInt32BE(before.readInt32BE(1) + 1, 1)
  bytes.writeInt32BE(value.length + 1, before.length)
  bytes[before.length + LENGTH_BYTES] = isLeft ? LEFT : RIGHT
  bytes.set(value, before.length + LENGTH_BYTES + 1)
  return bytes
}

/** Number of values in a list. */
function countOf(list: unknown): number {
  return asBuffer(list)?.readInt32BE(1) ?? 0
}

function* itemsOf(list: Buffer | undefined): IterableIterator<Buffer> {
  if (list === undefined) return
  for (let at = 1 + COUNT_BYTES; at < list.length;) {
    const end = at + LENGTH_BYTES + list.readInt32BE(at)
    yield list.subarray(at + LENGTH_BYTES + 1, end)
    at = end
  }
}

function asBuffer(bytes: unknown): Buffer | undefined {
  if (bytes === undefined) return undefined
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  throw new TypeError('unmatched records are kept as bytes')
}
