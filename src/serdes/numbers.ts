import { INT64_BYTES, readSafeInt64, writeSafeInt64 } from './int64.ts'
import type { Serde } from './serde.ts'

const INT32_BYTES = 4
const INT32_MAX = 2_147_483_647
const INT32_MIN = -2_147_483_648
const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

/** 8 bytes big-endian as a number; a value beyond ±(2^53 − 1) is a failure, never rounded (use `bigint`). Kafka Streams: `Serdes.Long()`. */
export const long: Serde<number> = {
  name: 'long',
  serialize(value) {
    if (!Number.isSafeInteger(value)) {
      throw new TypeError(`a long takes an integer within ±(2^53 - 1), got ${shown(value)}`)
    }
    const bytes = Buffer.allocUnsafe(INT64_BYTES)
    writeSafeInt64(bytes, value, 0)
    return bytes
  },
  deserialize(bytes) {
    expectSize('long', bytes, INT64_BYTES)
    const value = readSafeInt64(bytes, 0)
    if (value === undefined) {
      throw new RangeError(
        `the long ${String(bytes.readBigInt64BE(0))} is beyond ±(2^53 - 1) and would be rounded; the serde "bigint" reads it exactly`,
      )
    }
    return value
  },
}

/** The same 8 bytes big-endian, always as a bigint. Kafka Streams: `Serdes.Long()`. */
export const bigint: Serde<bigint> = {
  name: 'bigint',
  serialize(value) {
    const exact = exactBigint(value)
    if (exact === undefined || exact > INT64_MAX || exact < INT64_MIN) {
      throw new TypeError(`a bigint serde takes an integer of 64 bits, got ${shown(value)}`)
    }
    const bytes = Buffer.allocUnsafe(INT64_BYTES)
    bytes.writeBigInt64BE(exact, 0)
    return bytes
  },
  deserialize(bytes) {
    expectSize('bigint', bytes, INT64_BYTES)
    return bytes.readBigInt64BE(0)
  },
}

/** 4 bytes big-endian; a fraction or a value out of range is a failure. Kafka Streams: `Serdes.Integer()`. */
export const integer: Serde<number> = {
  name: 'integer',
  serialize(value) {
    if (!Number.isInteger(value) || value > INT32_MAX || value < INT32_MIN) {
      throw new TypeError(`an integer serde takes an integer of 32 bits, got ${shown(value)}`)
    }
    const bytes = Buffer.allocUnsafe(INT32_BYTES)
    bytes.writeInt32BE(value, 0)
    return bytes
  },
  deserialize(bytes) {
    expectSize('integer', bytes, INT32_BYTES)
    return bytes.readInt32BE(0)
  },
}

/** 8 bytes, IEEE 754, big-endian. Kafka Streams: `Serdes.Double()`. */
export const double: Serde<number> = {
  name: 'double',
  serialize(value) {
    if (typeof value !== 'number') throw new TypeError(`a double takes a number, got ${shown(value)}`)
    const bytes = Buffer.allocUnsafe(INT64_BYTES)
    if (Number.isNaN(value)) {
      // Java writes one canonical NaN (Double.doubleToLongBits); an engine's own NaN may carry other bits.
      bytes.writeUInt32BE(0x7f_f8_00_00, 0)
      bytes.writeUInt32BE(0, 4)
    } else {
      bytes.writeDoubleBE(value, 0)
    }
    return bytes
  },
  deserialize(bytes) {
    expectSize('double', bytes, INT64_BYTES)
    return bytes.readDoubleBE(0)
  },
}

/** One byte, 0 or 1. Kafka Streams: `Serdes.Boolean()`. */
export const boolean: Serde<boolean> = {
  name: 'boolean',
  serialize(value) {
    if (typeof value !== 'boolean') throw new TypeError(`a boolean serde takes true or false, got ${shown(value)}`)
    return Buffer.from([value ? 1 : 0])
  },
  deserialize(bytes) {
    expectSize('boolean', bytes, 1)
    const byte = bytes[0]
    if (byte !== 0 && byte !== 1) throw new RangeError(`a boolean is one byte, 0 or 1, got ${String(byte)}`)
    return byte === 1
  },
}

/** A short text of any value for an error message: its type where the value may be long. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'undefined':
      return String(value)
    case 'string':
      return value.length <= SHOWN_CHARACTERS_MAX
        ? JSON.stringify(value)
        : `a string of ${String(value.length)} characters`
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? 'a list' : 'an object'
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
    default:
      return 'an unknown value'
  }
}

/** Longer strings are record payload and do not belong into messages. */
const SHOWN_CHARACTERS_MAX = 40

function exactBigint(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  return Number.isSafeInteger(value) ? BigInt(Number(value)) : undefined
}

function expectSize(name: string, bytes: Buffer, size: number): void {
  if (bytes.length !== size) {
    throw new RangeError(
      `the serde "${name}" reads ${String(size)} byte${size === 1 ? '' : 's'}, got ${String(bytes.length)}`,
    )
  }
}
