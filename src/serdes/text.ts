import { shown } from './numbers.ts'
import type { Bytes, Serde } from './serde.ts'

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const LONE_SURROGATE = /\p{Surrogate}/gu

/** UTF-8 text; malformed input becomes U+FFFD and a lone surrogate is written as `?`, as Java does. Kafka Streams: `Serdes.String()`. */
export const string: Serde<string> = {
  name: 'string',
  serialize(value) {
    if (typeof value !== 'string') throw new TypeError(`a string serde takes text, got ${shown(value)}`)
    const bytes = Buffer.from(value, 'utf8')
    // One byte per UTF-16 unit means ASCII: nothing to replace, and the usual case costs no scan.
    return bytes.length === value.length ? bytes : Buffer.from(value.replaceAll(LONE_SURROGATE, '?'), 'utf8')
  },
  deserialize(bytes) {
    return isAscii(bytes) ? bytes.toString('latin1') : decoded(bytes)
  },
}

/** Whether it is the serde of text. */
export function isTextSerde(serializer: unknown): boolean {
  return serializer === string
}

/** As `string.deserialize`, of `length` bytes of others, which `view` is a view of. */
export function textWithin(others: Buffer, view: DataView, at: number, length: number): string {
  return isAsciiWithin(view, at, length)
    ? others.toString('latin1', at, at + length)
    : decoded(others.subarray(at, at + length))
}

/** Text such as `f81d4fae-7dec-11d0-a765-00a0c91e6bf6`, written as UTF-8 as the JVM does; anything else is a failure. Kafka Streams: `Serdes.UUID()`. */
export const uuid: Serde<string> = {
  name: 'uuid',
  serialize(value) {
    return Buffer.from(canonicalUuid(value), 'latin1')
  },
  deserialize(bytes) {
    return canonicalUuid(bytes.toString('latin1'))
  },
}

/** The bytes themselves, copied when read: what Kafka sent lies in a buffer shared by many records. Kafka Streams: `Serdes.ByteArray()`. */
export const bytes: Serde<Bytes> = {
  name: 'bytes',
  serialize(value) {
    if (!(value instanceof Uint8Array)) throw new TypeError(`a bytes serde takes a Uint8Array, got ${shown(value)}`)
    return value
  },
  deserialize(view) {
    return Buffer.from(view)
  },
}

function canonicalUuid(value: unknown): string {
  const lower = typeof value === 'string' ? value.toLowerCase() : ''
  if (!UUID_FORM.test(lower))
    throw new TypeError(`a uuid is text of 8-4-4-4-12 hexadecimal digits, got ${shown(value)}`)
  return lower
}

function decoded(view: Buffer): string {
  const text = view.toString('utf8')
  return text.includes('\uFFFD') ? decodeAsJava(view) : text
}

/** Whether all bytes are those of ASCII: quicker to find out, and to decode, than UTF-8 is to search for what is malformed. */
function isAscii(view: Uint8Array): boolean {
  const words = view.length & ~3
  let all = 0
  for (let at = 0; at < words; at += 4) {
    all |= (view[at] ?? 0) | (view[at + 1] ?? 0) | (view[at + 2] ?? 0) | (view[at + 3] ?? 0)
  }
  for (let at = words; at < view.length; at += 1) all |= view[at] ?? 0
  return all < 0x80
}

function isAsciiWithin(view: DataView, start: number, length: number): boolean {
  const words = start + (length & ~3)
  let all = 0
  for (let at = start; at < words; at += 4) all |= view.getInt32(at, true)
  for (let at = words; at < start + length; at += 1) all |= view.getUint8(at)
  return (all & 0x8080_8080) === 0
}

/** Java replaces an encoded surrogate (`ED A0 80` to `ED BF BF`) by one U+FFFD, Node by three; all else is replaced alike. */
function decodeAsJava(view: Buffer): string {
  const copy = Buffer.from(view)
  for (let at = 0; at + 2 < copy.length; at++) {
    if (copy[at] !== 0xed || !isBetween(copy[at + 1], 0xa0, 0xbf) || !isBetween(copy[at + 2], 0x80, 0xbf)) continue
    copy[at] = 0xef
    copy[at + 1] = 0xbf
    copy[at + 2] = 0xbd
    at += 2
  }
  return copy.toString('utf8')
}

function isBetween(byte: number | undefined, low: number, high: number): boolean {
  return byte !== undefined && byte >= low && byte <= high
}
