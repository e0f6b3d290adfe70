import { MillraceError } from '../model/errors.ts'
import { headersOf, NO_HEADERS, type RecordHeader, type RecordHeaders } from '../model/headers.ts'
import { INT64_BYTES, readSafeInt64, writeSafeInt64 } from '../serdes/int64.ts'
import type { UpdateContext } from './suppress-state.ts'

const INT32_BYTES = 4
const NULL_LENGTH = -1
/** The value before is the one that was visible downstream. */
const SAME_AS_PRIOR = -2

/** Marks the layout of the changelog's values. */
export const HELD_UPDATE_HEADERS: RecordHeaders = headersOf([['v', Buffer.of(3)]])

/** The bytes of a held update. */
export interface HeldBytes {
  readonly prior: Buffer | null
  readonly old: Buffer | null
  readonly value: Buffer | null
  readonly context: UpdateContext
}

/** The changelog value: context, prior, old and new value, time in the buffer. Kafka Streams: `BufferValue.serialize`. */
export function encodeHeldUpdate({ prior, old, value, context }: HeldBytes, time: number): Buffer {
  const isSame = old !== null && prior !== null && old.equals(prior)
  return Buffer.concat([
    ...encodeContext(context),
    ...sized(prior),
    ...(isSame ? [int32(SAME_AS_PRIOR)] : sized(old)),
    ...sized(value),
    int64(time),
  ])
}

/**
 * Reads a changelog value.
 *
 * @throws MillraceError `STATE_VERSION_UNKNOWN` when its header names another layout
 */
export function decodeHeldUpdate(bytes: Buffer, headers: RecordHeaders): HeldBytes & { readonly time: number } {
  const version = [...headers].find(([name]) => name === 'v')?.[1]
  if (version?.[0] !== 3) {
    throw new MillraceError('STATE_VERSION_UNKNOWN', {
      what: `A suppress changelog has values of the layout ${String(version?.[0])}, and only 3 is known.`,
    })
  }
  const reader = new Reader(bytes)
  const context = reader.context()
  const prior = reader.sized()
  const oldLength = reader.int32()
  const old = oldLength === SAME_AS_PRIOR ? prior : reader.take(oldLength)
  return { context, prior, old, value: reader.sized(), time: reader.int64() }
}

/** Bytes a held update takes as the JVM counts them. Kafka Streams: `InMemoryTimeOrderedKeyValueChangeBuffer.computeRecordSize`. */
export function heldSize(key: Buffer, { prior, old, value, context }: HeldBytes): number {
  const isSame = old !== null && prior !== null && old.equals(prior)
  let size = key.length + INT64_BYTES + (prior?.length ?? 0) + (isSame ? 0 : (old?.length ?? 0)) + (value?.length ?? 0)
  size += 2 * INT64_BYTES + INT32_BYTES + context.topic.length
  for (const [name, header] of context.headers) size += name.length + (header?.length ?? 0)
  return size
}

function encodeContext({ timestamp, offset, topic, partition, headers }: UpdateContext): readonly Buffer[] {
  const parts = [int64(timestamp), int64(offset), ...sized(Buffer.from(topic)), int32(partition)]
  const list = [...headers]
  parts.push(int32(list.length))
  for (const [name, value] of list) {
    parts.push(...sized(Buffer.from(name)), ...sized(value === null ? null : Buffer.from(value)))
  }
  return parts
}

function sized(bytes: Buffer | null): readonly Buffer[] {
  return bytes === null ? [int32(NULL_LENGTH)] : [int32(bytes.length), bytes]
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(INT32_BYTES)
  bytes.writeInt32BE(value)
  return bytes
}

function int64(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(INT64_BYTES)
  writeSafeInt64(bytes, value, 0)
  return bytes
}

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

  /** So many bytes, as a copy; `null` for a length below 0. */
  take(length: number): Buffer | null {
    if (length < 0) return null
    if (this.#at + length > this.#bytes.length) throw new RangeError('a held update is cut off')
    const taken = Buffer.from(this.#bytes.subarray(this.#at, this.#at + length))
    this.#at += length
    return taken
  }

  sized(): Buffer | null {
    return this.take(this.int32())
  }

  context(): UpdateContext {
    const timestamp = this.int64()
    const offset = this.int64()
    const topic = this.sized()?.toString() ?? ''
    const partition = this.int32()
    const count = this.int32()
    if (count <= 0) return { timestamp, offset, topic, partition, headers: NO_HEADERS }
    const headers: RecordHeader[] = []
    for (let at = 0; at < count; at++) headers.push([this.sized()?.toString() ?? '', this.sized()])
    return { timestamp, offset, topic, partition, headers: headersOf(headers) }
  }
}
