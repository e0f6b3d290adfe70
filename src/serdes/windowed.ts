import { parseDurationMs, type Duration } from '../model/duration.ts'
import { WindowedKey, type Windowed } from '../model/windowed.ts'
import { INT64_BYTES, readSafeInt64, writeSafeInt64 } from './int64.ts'
import type { AnySerde, Serde, SerdeContext } from './serde.ts'

/** What a serde of windowed keys is made of. */
export interface WindowedForm {
  /** Serde of the key inside. */
  readonly inner: AnySerde
  /** Bytes of the window, behind those of the key inside. */
  readonly windowBytes: number
  /** The serde of the same windows over other keys. */
  readonly withInner: (inner: AnySerde) => AnySerde
}

/** Where a serde has its form; known to every copy of millrace in the process. */
const FORM = Symbol.for('millrace.windowedForm')

interface WindowedSerde {
  readonly [FORM]: WindowedForm
}

/** What a serde of windowed keys is made of; `undefined` for any other serde. */
export function windowedFormOf(serde: object): WindowedForm | undefined {
  return isWindowed(serde) ? serde[FORM] : undefined
}

/** Writes the bounds of a window behind a key. @throws TypeError for a bound that is no integer */
export type BoundsWriter = (into: Buffer, at: number, start: number, end: number) => void

/** What writes the window of a form, whichever copy of millrace made it. */
export function boundsWriterOf({ windowBytes }: WindowedForm): BoundsWriter {
  return windowBytes === INT64_BYTES ? writeStart : writeEndAndStart
}

function isWindowed(serde: object): serde is WindowedSerde {
  return FORM in serde
}

/** Reads and writes keys of tumbling, hopping and sliding windows: `key | start` (8 bytes). Kafka Streams: `WindowedSerdes.timeWindowedSerdeFrom`. */
export function timeWindowed<K>(key: Serde<K>, size: Duration): Serde<Windowed<K>> {
  const sizeMs = parseDurationMs(size)
  if (sizeMs === undefined)
    throw new TypeError(`a window size is a duration such as '1m' or 60000, got ${String(size)}`)
  const form = {
    inner: key,
    windowBytes: INT64_BYTES,
    withInner: (inner: AnySerde) => timeWindowed(asSerde(inner), sizeMs),
  }
  const serde: Serde<Windowed<K>> & WindowedSerde = {
    [FORM]: form,
    name: `windowed(${key.name})`,
    serialize(value, context) {
      const keyBytes = key.serialize(value.key, context)
      const bytes = withRoom(keyBytes, INT64_BYTES)
      writeStart(bytes, keyBytes.length, value.start)
      return bytes
    },
    deserialize(bytes, context) {
      const start = timeAt(bytes, bytes.length - INT64_BYTES)
      // A window that never closes ends with the last integer a number holds.
      const end = Math.min(start + sizeMs, Number.MAX_SAFE_INTEGER)
      return new WindowedKey(innerKey(key, bytes, INT64_BYTES, context), start, end)
    },
  }
  return serde
}

/** Reads and writes keys of sessions: `key | end | start` (8 bytes each). Kafka Streams: `WindowedSerdes.sessionWindowedSerdeFrom`. */
export function sessionWindowed<K>(key: Serde<K>): Serde<Windowed<K>> {
  const form = {
    inner: key,
    windowBytes: 2 * INT64_BYTES,
    withInner: (inner: AnySerde) => sessionWindowed(asSerde(inner)),
  }
  const serde: Serde<Windowed<K>> & WindowedSerde = {
    [FORM]: form,
    name: `sessionWindowed(${key.name})`,
    serialize(value, context) {
      const keyBytes = key.serialize(value.key, context)
      const bytes = withRoom(keyBytes, 2 * INT64_BYTES)
      writeEndAndStart(bytes, keyBytes.length, value.start, value.end)
      return bytes
    },
    deserialize(bytes, context) {
      const end = timeAt(bytes, bytes.length - 2 * INT64_BYTES)
      const start = timeAt(bytes, bytes.length - INT64_BYTES)
      return new WindowedKey(innerKey(key, bytes, 2 * INT64_BYTES, context), start, end)
    },
  }
  return serde
}

/** The key with room for its times behind it. */
function withRoom(keyBytes: Uint8Array, tailBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(keyBytes.length + tailBytes)
  bytes.set(keyBytes, 0)
  return bytes
}

function writeStart(into: Buffer, at: number, start: number): void {
  writeTime(into, start, at)
}

function writeEndAndStart(into: Buffer, at: number, start: number, end: number): void {
  writeTime(into, end, at)
  writeTime(into, start, at + INT64_BYTES)
}

function writeTime(bytes: Buffer, time: number, at: number): void {
  if (!Number.isSafeInteger(time))
    throw new TypeError(`a window's bound is an integer of milliseconds, got ${String(time)}`)
  writeSafeInt64(bytes, time, at)
}

function innerKey<K>(key: Serde<K>, bytes: Buffer, tailBytes: number, context: SerdeContext): K {
  return key.deserialize(bytes.subarray(0, bytes.length - tailBytes), context)
}

function timeAt(bytes: Buffer, at: number): number {
  if (at < 0)
    throw new RangeError(`a windowed key ends with 8 bytes per bound, got ${String(bytes.length)} bytes in all`)
  const time = readSafeInt64(bytes, at)
  if (time === undefined) throw new RangeError('a window bound is beyond ±(2^53 - 1) ms')
  return time
}

function asSerde(serde: AnySerde): Serde<unknown>
function asSerde(serde: unknown): unknown {
  return serde
}
