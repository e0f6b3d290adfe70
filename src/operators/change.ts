import type { ErasedSerde } from '../serdes/erased-serde.ts'
import type { SerdeContext } from '../serdes/serde.ts'

/** An update of a table on its way through a repartition topic: the value before and the one after. Kafka Streams: `Change`. */
export class Change {
  readonly old: unknown
  readonly new: unknown

  constructor(old: unknown, next: unknown) {
    this.old = old
    this.new = next
  }
}

const ONLY_OLD = 0
const ONLY_NEW = 1
const BOTH = 2

/**
 * The bytes of a change: `old | 00`, `new | 01`, or `length of new | new | old | 02` with the length as a zigzag varint.
 * Kafka Streams: `ChangedSerializer` and `ChangedDeserializer`.
 */
export function changeSerde(inner: ErasedSerde): ErasedSerde {
  return {
    name: `change(${inner.name})`,
    serialize(value, context) {
      if (!(value instanceof Change)) throw new TypeError('a change serde takes a change')
      return serializeChange(inner, value, context)
    },
    deserialize(bytes, context) {
      return deserializeChange(inner, bytes, context)
    },
  }
}

function serializeChange(inner: ErasedSerde, change: Change, context: SerdeContext): Uint8Array {
  const before = change.old === null ? undefined : inner.serialize(change.old, context)
  const after = change.new === null ? undefined : inner.serialize(change.new, context)
  if (after === undefined) {
    if (before === undefined) throw new TypeError('a change has an old or a new value')
    return marked(before, ONLY_OLD)
  }
  if (before === undefined) return marked(after, ONLY_NEW)
  const lengthBytes = zigzagSize(after.length)
  const bytes = Buffer.allocUnsafe(lengthBytes + after.length + before.length + 1)
  writeZigzag(bytes, after.length)
  bytes.set(after, lengthBytes)
  bytes.set(before, lengthBytes + after.length)
  bytes[bytes.length - 1] = BOTH
  return bytes
}

function deserializeChange(inner: ErasedSerde, bytes: Buffer, context: SerdeContext): Change {
  const end = bytes.length - 1
  switch (bytes[end]) {
    case ONLY_OLD:
      return new Change(inner.deserialize(bytes.subarray(0, end), context), null)
    case ONLY_NEW:
      return new Change(null, inner.deserialize(bytes.subarray(0, end), context))
    case BOTH: {
      const [length, at] = readZigzagVarint(bytes)
      if (length < 0 || at + length > end) throw new RangeError('the change is cut off')
      return new Change(
        inner.deserialize(bytes.subarray(at + length, end), context),
        inner.deserialize(bytes.subarray(at, at + length), context),
      )
    }
    case undefined:
    default:
      throw new RangeError(`a change ends with 0, 1 or 2, got ${String(bytes[end])}`)
  }
}

function marked(value: Uint8Array, mark: number): Buffer {
  const bytes = Buffer.allocUnsafe(value.length + 1)
  bytes.set(value, 0)
  bytes[value.length] = mark
  return bytes
}

/** Bytes of a length as a zigzag varint. */
function zigzagSize(length: number): number {
  let size = 1
  for (let rest = (length << 1) >>> 7; rest !== 0; rest >>>= 7) size += 1
  return size
}

/** Writes a length as a zigzag varint at the beginning. */
function writeZigzag(bytes: Buffer, length: number): void {
  let rest = length << 1
  let at = 0
  while ((rest & ~0x7f) !== 0) {
    bytes[at] = (rest & 0x7f) | 0x80
    at += 1
    rest >>>= 7
  }
  bytes[at] = rest
}

function readZigzagVarint(bytes: Buffer): [value: number, end: number] {
  let value = 0
  for (let at = 0; at < 5; at++) {
    const byte = bytes[at]
    if (byte === undefined) break
    value |= (byte & 0x7f) << (7 * at)
    if ((byte & 0x80) === 0) return [(value >>> 1) ^ -(value & 1), at + 1]
  }
  throw new RangeError('the length of a change is cut off')
}
