import { erasedSerializer, type ErasedSerializer } from './erased-serde.ts'
import { INT64_BYTES, TWO_POW_32 } from './int64.ts'
import { JsonWriter } from './json-writer.ts'
import { isJson } from './json.ts'
import { withoutNull } from './nullable.ts'
import { double, long } from './numbers.ts'
import { readsPrimitives } from './primitives.ts'
import type { AnySerde, Serializer } from './serde.ts'
import { TextSum } from './text-sum.ts'
import { isTextSerde } from './text.ts'

const REMEMBERING = new Map<unknown, ErasedSerializer>()

/**
 * A serializer that keeps the bytes of its last value: a count goes to its store, its changelog and a topic, and is encoded
 * once. Only for serdes of this library that are pure; any other is given back as it is. The bytes must not be changed.
 */
export function rememberingSerializer(serializer: Serializer<never>): ErasedSerializer {
  const plain = 'deserialize' in serializer ? withoutNull(asSerde(serializer)) : serializer
  if (!isPure(plain)) return erasedSerializer(serializer)
  let remembering = REMEMBERING.get(plain)
  if (remembering === undefined) {
    remembering = remember(erasedSerializer(plain))
    REMEMBERING.set(plain, remembering)
  }
  return remembering
}

/**
 * As `rememberingSerializer`, for bytes that are used before the next value is encoded: those of a long, of short texts of
 * one length, and of JSON always lie at the same place.
 */
export function transientSerializer(serializer: Serializer<never>): ErasedSerializer {
  const plain = 'deserialize' in serializer ? withoutNull(asSerde(serializer)) : serializer
  if (isLong(plain)) return transientLong(erasedSerializer(plain))
  if (isJson(plain)) return transientJson(erasedSerializer(plain))
  return isTextSerde(plain) ? transientText(erasedSerializer(plain)) : rememberingSerializer(serializer)
}

/**
 * Whether bytes depend on the value alone, and values equal each other only if their bytes do: of doubles, 0 and −0 are equal
 * and have other bytes.
 */
function isPure(plain: object): boolean {
  return readsPrimitives(plain) && !isDouble(plain)
}

function isDouble(serializer: unknown): boolean {
  return serializer === double
}

function isLong(serializer: unknown): boolean {
  return serializer === long
}

function transientJson({ name, serialize }: ErasedSerializer): ErasedSerializer {
  const writer = new JsonWriter()
  return {
    name,
    serialize: (value, context) => writer.write(value) ?? serialize(value, context),
  }
}

/** Of longer texts the buffer is what costs least. */
const TEXT_MAX = 512

function transientText({ name, serialize }: ErasedSerializer): ErasedSerializer {
  const encoder = new TextEncoder()
  const room = Buffer.allocUnsafeSlow(TEXT_MAX)
  const view = new DataView(room.buffer)
  const places: Buffer[] = []
  return {
    name,
    serialize(value, context) {
      if (value instanceof TextSum) {
        const length = value.writeAscii(room, view)
        return length < 0 ? serialize(String(value), context) : (places[length] ??= room.subarray(0, length))
      }
      if (typeof value !== 'string' || value.length > TEXT_MAX) return serialize(value, context)
      const { length } = value
      const { read, written } = encoder.encodeInto(value, room)
      // One byte per UTF-16 unit means ASCII; anything else is for the serde itself.
      if (read !== length || written !== length) return serialize(value, context)
      return (places[length] ??= room.subarray(0, length))
    },
  }
}

function transientLong({ name, serialize }: ErasedSerializer): ErasedSerializer {
  const bytes = Buffer.alloc(INT64_BYTES)
  const view = new DataView(bytes.buffer, bytes.byteOffset, INT64_BYTES)
  return {
    name,
    serialize(value, context) {
      // Whatever is no long is refused by the serde itself.
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return serialize(value, context)
      view.setInt32(0, Math.floor(value / TWO_POW_32))
      view.setUint32(4, value >>> 0)
      return bytes
    },
  }
}

function remember({ name, serialize }: ErasedSerializer): ErasedSerializer {
  let lastValue: unknown
  let lastBytes: Uint8Array | undefined
  return {
    name,
    serialize(value, context) {
      if (lastBytes !== undefined && value === lastValue) return lastBytes
      const bytes = serialize(value, context)
      lastValue = value
      lastBytes = bytes
      return bytes
    },
  }
}

function asSerde(serializer: Serializer<never>): AnySerde
function asSerde(serializer: unknown): unknown {
  return serializer
}
