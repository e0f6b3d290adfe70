import { decodeHeldUpdate, encodeHeldUpdate, HELD_UPDATE_HEADERS } from '../stores/held-update-codec.ts'
import { NO_HEADERS } from '../model/headers.ts'
import type { RecordHeaders } from '../model/headers.ts'
import type { DropReason } from '../model/record-failure.ts'
import type { ErasedSerde } from '../serdes/erased-serde.ts'
import { INT64_BYTES, readSafeInt64, writeSafeInt64 } from '../serdes/int64.ts'
import { STAMPED_WHEN_SENT } from '../stores/changelog.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { Forward } from './forward.ts'
import type { LongVariable } from './long-variable.ts'
import type { KeyBytes, SideBytes } from './side-bytes.ts'
import type { Site } from './stateless.ts'

const PREFIX_BYTES = 1
/** Marks keys that begin with the time. */
const TIME_FIRST = 0
const KEY_AT = PREFIX_BYTES + INT64_BYTES
const SEQUENCE_BYTES = 4
/** Sequence numbers are a Java `int` and start over at 0. */
const SEQUENCE_MASK = 0x7f_ff_ff_ff

/** What stream records that wait for a table work with. */
export interface WaitingParts extends Site {
  /** Keys and values are bytes. */
  readonly store: KeyValueState
  readonly key: ErasedSerde
  readonly value: ErasedSerde
  readonly keyBytes: KeyBytes
  readonly valueBytes: SideBytes
  /** Topic that serdes are told. */
  readonly topic: string
  readonly graceMs: number
  /** Highest time ever put. */
  readonly observed: LongVariable
  /** Last sequence number given out. */
  readonly sequence: LongVariable
  readonly isLeft: boolean
  readonly dropped: (reason: DropReason) => void
}

/**
 * Lets stream records wait until the table has had time to hear of what held then; one that comes later than that goes on
 * at once. Kafka Streams: the buffer of `KStreamKTableJoinProcessor`, `RocksDBTimeOrderedKeyValueBuffer` (KIP-923).
 *
 * @param next - the join itself
 */
export function waitForTable(parts: WaitingParts, next: Forward): Forward {
  const { name, record, store, observed, sequence, graceMs, keyBytes, valueBytes, isLeft, dropped } = parts
  const emitDue = emitter(parts, next)
  return (key, value, timestamp, headers) => {
    if (value === null || (key === null && !isLeft)) {
      dropped(key === null ? 'nullKey' : 'nullValue')
      return
    }
    record.enter(name, timestamp, headers)
    if (key === null) throw new TypeError('a record without a key cannot wait for a table: the JVM stops here too')
    // What was due before is gone; its deletions stay in the way of a scan until the commit.
    const dueBefore = Math.max(0, observed.value - graceMs)
    if (observed.value - graceMs > timestamp) {
      next(key, value, timestamp, headers)
    } else {
      sequence.value = (sequence.value + 1) & SEQUENCE_MASK
      if (timestamp > observed.value) observed.value = timestamp
      const held = encodeWaiting(parts, valueBytes(value, headers), timestamp, headers)
      store.put(waitingKey(keyBytes(key, headers), timestamp, sequence.value), held, STAMPED_WHEN_SENT)
    }
    emitDue(dueBefore)
  }
}

/** Hands on, in the order of time and key, what has waited long enough. */
function emitter(parts: WaitingParts, next: Forward): (dueBefore: number) => void {
  const { name, record, store, key, value, topic, graceMs, observed } = parts
  return dueBefore => {
    const due = observed.value - graceMs
    for (const [view, bytes] of store.scan({ from: timeKey(dueBefore) })) {
      if ((readSafeInt64(view, PREFIX_BYTES) ?? 0) > due) return
      const stored = Buffer.from(view)
      const { context, value: heldValue } = decodeHeldUpdate(asBuffer(bytes), HELD_UPDATE_HEADERS)
      const { timestamp, headers } = context
      const keyView = stored.subarray(KEY_AT, stored.length - SEQUENCE_BYTES)
      record.enter(name, timestamp, headers)
      record.releases.release(() => {
        next(
          key.deserialize(keyView, { topic, side: 'key', headers: NO_HEADERS }),
          heldValue === null ? null : value.deserialize(heldValue, { topic, side: 'value', headers: NO_HEADERS }),
          timestamp,
          headers,
        )
      })
      store.put(stored, null, STAMPED_WHEN_SENT)
    }
  }
}

function encodeWaiting({ record }: Site, value: Uint8Array | null, timestamp: number, headers: RecordHeaders): Buffer {
  const { topic, partition, offset } = record.view.origin
  return encodeHeldUpdate(
    {
      prior: null,
      old: null,
      value,
      context: { timestamp, headers, topic, partition, offset },
    },
    0,
  )
}

/** The first key of a time. */
function timeKey(time: number): Buffer {
  const bytes = Buffer.allocUnsafe(KEY_AT)
  bytes[0] = TIME_FIRST
  writeSafeInt64(bytes, time, PREFIX_BYTES)
  return bytes
}

/** `00 | 8 bytes time | key | 4 bytes sequence`. Kafka Streams: `TimeFirstWindowKeySchema`. */
function waitingKey(key: Uint8Array, timestamp: number, sequence: number): Buffer {
  const bytes = Buffer.allocUnsafe(KEY_AT + key.length + SEQUENCE_BYTES)
  bytes[0] = TIME_FIRST
  writeSafeInt64(bytes, timestamp, PREFIX_BYTES)
  bytes.set(key, KEY_AT)
  bytes.writeInt32BE(sequence, KEY_AT + key.length)
  return bytes
}

function asBuffer(bytes: unknown): Buffer {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  throw new TypeError('waiting records are kept as bytes')
}
