import { MillraceError } from '../model/errors.ts'
import { headersOf, NO_HEADERS, type RecordHeader, type RecordHeaders } from '../model/headers.ts'
import { INT64_BYTES, readSafeInt64, writeSafeInt64 } from '../serdes/int64.ts'
import type { UpdateContext } from './suppress-state.ts'

const INT32_BYTES = 4
const NULL_LENGTH = -1
/** The value before is the one that was visible downstream. */
const SAME_AS_PRIOR = -2
/** Timestamp and offset come first. */
const TOPIC_AT = 2 * INT64_BYTES
/** Bytes of the layout that the JVM does not count: lengths, the count of headers, but one time fewer. */
const UNCOUNTED_BYTES = 20
const UNCOUNTED_BYTES_PER_HEADER = 2 * INT32_BYTES

/** Marks the layout of the changelog's values. */
export const HELD_UPDATE_HEADERS: RecordHeaders = headersOf([['v', Buffer.of(3)]])

/** The bytes of a held update. */
export interface HeldBytes {
  readonly prior: Uint8Array | null
  readonly old: Uint8Array | null
  readonly value: Uint8Array | null
  readonly context: UpdateContext
}

/**
 * The changelog value: context, prior, old and new value, time in the buffer. Valid until the next call.
 * Kafka Streams: `BufferValue.serialize`.
 */
export function encodeHeldUpdate({ prior, old, value, context }: HeldBytes, time: number): Buffer {
  writer.begin()
  writeContext(context)
  writer.sized(prior)
  if (old !== null && prior !== null && Buffer.compare(old, prior) === 0) writer.int32(SAME_AS_PRIOR)
  else writer.sized(old)
  writer.sized(value)
  writer.int64(time)
  return writer.written
}

/**
 * Reads a changelog value; the values are views of it.
 *
 * @throws MillraceError `STATE_VERSION_UNKNOWN` when its header names another layout
 */
export function decodeHeldUpdate(
  bytes: Buffer,
  headers: RecordHeaders,
): HeldBytes & {
  readonly prior: Buffer | null
  readonly old: Buffer | null
  readonly value: Buffer | null
  readonly time: number
} {
  const version = headers === HELD_UPDATE_HEADERS ? 3 : [...headers].find(([name]) => name === 'v')?.[1]?.[0]
  if (version !== 3) {
    throw new MillraceError('STATE_VERSION_UNKNOWN', {
      what: `A suppress changelog has values of the layout ${String(version)}, and only 3 is known.`,
    })
  }
  const reader = new Reader(bytes)
  const context = reader.context()
  const prior = reader.sized()
  const oldLength = reader.int32()
  const old = oldLength === SAME_AS_PRIOR ? prior : reader.take(oldLength)
  return { context, prior, old, value: reader.sized(), time: reader.int64() }
}

/** The value that was visible downstream, of a changelog value; a view. */
export function priorIn(bytes: Buffer): Buffer | null {
  const at = endOfContext(bytes)
  const length = bytes.readInt32BE(at)
  return length < 0 ? null : bytes.subarray(at + INT32_BYTES, at + INT32_BYTES + length)
}

/** Bytes a held update takes as the JVM counts them. Kafka Streams: `InMemoryTimeOrderedKeyValueChangeBuffer.computeRecordSize`. */
export function heldSize(keyBytes: number, bytes: Buffer): number {
  return keyBytes + bytes.length - UNCOUNTED_BYTES - UNCOUNTED_BYTES_PER_HEADER * Math.max(0, headersIn(bytes))
}

function headersIn(bytes: Buffer): number {
  return bytes.readInt32BE(headersAt(bytes))
}

/** Where the count of headers stands: behind topic and partition. */
function headersAt(bytes: Buffer): number {
  return TOPIC_AT + INT32_BYTES + Math.max(0, bytes.readInt32BE(TOPIC_AT)) + INT32_BYTES
}

function endOfContext(bytes: Buffer): number {
  let at = headersAt(bytes) + INT32_BYTES
  for (let fields = 2 * headersIn(bytes); fields > 0; fields--) at += INT32_BYTES + Math.max(0, bytes.readInt32BE(at))
  return at
}

function writeContext({ timestamp, offset, topic, partition, headers }: UpdateContext): void {
  writer.int64(timestamp)
  writer.int64(offset)
  writer.sized(topicBytes(topic))
  writer.int32(partition)
  if (headers === NO_HEADERS) {
    writer.int32(0)
    return
  }
  const list = [...headers]
  writer.int32(list.length)
  for (const [name, value] of list) {
    writer.sized(Buffer.from(name))
    writer.sized(value)
  }
}

let lastTopic = ''
let lastTopicBytes = Buffer.alloc(0)

/** A task reads few topics, the same one many times in a row. */
function topicBytes(topic: string): Buffer {
  if (topic !== lastTopic) {
    lastTopic = topic
    lastTopicBytes = Buffer.from(topic)
  }
  return lastTopicBytes
}

function topicOf(bytes: Buffer | null): string {
  if (bytes === null) return ''
  if (!bytes.equals(lastTopicBytes)) {
    lastTopic = bytes.toString()
    lastTopicBytes = Buffer.from(bytes)
  }
  return lastTopic
}

/** Writes one value after the other into the same bytes, which grow with the largest. */
class Writer {
  #bytes = Buffer.allocUnsafeSlow(256)
  #at = 0

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  begin(): void {
    this.#at = 0
  }

  int32(value: number): void {
    this.#reserve(INT32_BYTES)
    this.#bytes.writeInt32BE(value, this.#at)
    this.#at += INT32_BYTES
  }

  int64(value: number): void {
    this.#reserve(INT64_BYTES)
    writeSafeInt64(this.#bytes, value, this.#at)
    this.#at += INT64_BYTES
  }

  /** The length, −1 for `null`, and the bytes. */
  sized(bytes: Uint8Array | null): void {
    this.int32(bytes?.length ?? NULL_LENGTH)
    if (bytes === null) return
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#at + length, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

const writer = new Writer()

/** Reads a changelog value from its start to its end. */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  int32(): number {
    const value = this.#bytes.readInt32BE(this.#at)
    this.#at += INT32_BYTES
    return value
  }

  int64(): number {
    const value = readSafeInt64(this.#bytes, this.#at)
    if (value === undefined) throw new RangeError('a time or offset is beyond ±(2^53 - 1)')
    this.#at += INT64_BYTES
    return value
  }

  /** So many bytes; `null` for a length below 0. */
  take(length: number): Buffer | null {
    if (length < 0) return null
    if (this.#at + length > this.#bytes.length) throw new RangeError('a held update is cut off')
    const taken = this.#bytes.subarray(this.#at, this.#at + length)
    this.#at += length
    return taken
  }

  sized(): Buffer | null {
    return this.take(this.int32())
  }

  context(): UpdateContext {
    const timestamp = this.int64()
    const offset = this.int64()
    const topic = topicOf(this.sized())
    const partition = this.int32()
    const count = this.int32()
    if (count <= 0) return { timestamp, offset, topic, partition, headers: NO_HEADERS }
    const headers: RecordHeader[] = []
    for (let at = 0; at < count; at++) headers.push([this.sized()?.toString() ?? '', copyOf(this.sized())])
    return { timestamp, offset, topic, partition, headers: headersOf(headers) }
  }
}

/** Headers go on with the record, which may outlive the bytes they were read from. */
function copyOf(bytes: Buffer | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes)
}
