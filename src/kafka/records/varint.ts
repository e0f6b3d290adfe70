/** Whether a zigzag varint of an integer takes two bytes at most, and the integer is not negative. */
export function isTwoBytes(value: number): boolean {
  return value >= 0 && value < 8_192
}

/** As `varintBytes`, for an integer that `isTwoBytes`. */
export function shortVarintBytes(value: number): number {
  return value < 64 ? 1 : 2
}

/** As `writeVarint`, for an integer that `isTwoBytes`. */
export function writeShortVarint(buffer: Uint8Array, at: number, value: number): number {
  if (value < 64) {
    buffer[at] = value << 1
    return at + 1
  }
  buffer[at] = ((value << 1) & 0x7f) | 0x80
  buffer[at + 1] = value >> 6
  return at + 2
}

/** How many bytes a zigzag varint of a 32-bit integer takes. Kafka: `ByteUtils.sizeOfVarint`. */
export function varintBytes(value: number): number {
  // Nearly all lengths and deltas; the rest stands apart so that the compiler inlines this.
  if (isTwoBytes(value)) return shortVarintBytes(value)
  return longVarintBytes(value)
}

function longVarintBytes(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0
  if (zigzag < 0x80) return 1
  if (zigzag < 0x4000) return 2
  if (zigzag < 0x20_0000) return 3
  return zigzag < 0x1000_0000 ? 4 : 5
}

/** Writes a 32-bit integer as a zigzag varint; the position after it. */
export function writeVarint(buffer: Uint8Array, at: number, value: number): number {
  return isTwoBytes(value) ? writeShortVarint(buffer, at, value) : writeLongVarint(buffer, at, value)
}

function writeLongVarint(buffer: Uint8Array, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0
  let next = at
  while (rest >= 0x80) {
    buffer[next] = (rest & 0x7f) | 0x80
    next += 1
    rest >>>= 7
  }
  buffer[next] = rest
  return next + 1
}

/** As `varintBytes`, for integers up to ±(2^53−1). Kafka: `ByteUtils.sizeOfVarlong`. */
export function varlongBytes(value: number): number {
  if (value >= 0 && value < 64) return 1
  return longVarlongBytes(value)
}

function longVarlongBytes(value: number): number {
  if (value === value >> 0) return varintBytes(value)
  let rest = Math.floor(magnitudeOf(value) / 64)
  let bytes = 1
  while (rest > 0) {
    bytes += 1
    rest = Math.floor(rest / 128)
  }
  return bytes
}

/** As `writeVarint`, for integers up to ±(2^53−1). */
export function writeVarlong(buffer: Uint8Array, at: number, value: number): number {
  if (value >= 0 && value < 64) {
    buffer[at] = value << 1
    return at + 1
  }
  return writeLongVarlong(buffer, at, value)
}

function writeLongVarlong(buffer: Uint8Array, at: number, value: number): number {
  if (value === value >> 0) return writeVarint(buffer, at, value)
  // The zigzag form of such a value has up to 54 bits, one more than a number holds: sign and magnitude stay apart.
  const magnitude = magnitudeOf(value)
  let group = (magnitude % 64) * 2 + (value < 0 ? 1 : 0)
  let rest = Math.floor(magnitude / 64)
  let next = at
  while (rest > 0) {
    buffer[next] = group | 0x80
    next += 1
    group = rest % 128
    rest = Math.floor(rest / 128)
  }
  buffer[next] = group
  return next + 1
}

/** What zigzag encoding holds beside the sign: 0, 1, … for 0, 1, … and for −1, −2, …. */
function magnitudeOf(value: number): number {
  return value < 0 ? -value - 1 : value
}

/** Reads zigzag varints one after another; off the hot path (the record cursor reads its own in place). */
export class VarintReader {
  readonly #buffer: Uint8Array
  #position: number

  constructor(buffer: Uint8Array, position = 0) {
    this.#buffer = buffer
    this.#position = position
  }

  /** Where the next byte is read. */
  get position(): number {
    return this.#position
  }

  /** A 32-bit integer; `undefined` when the bytes run out or there are more than five. */
  varint(): number | undefined {
    let value = 0
    for (let shift = 0; shift <= 28; shift += 7) {
      const byte = this.#buffer[this.#position]
      if (byte === undefined) return undefined
      this.#position += 1
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1)
    }
    return undefined
  }

  /** An integer of up to 64 bits, exact up to ±(2^53−1); `undefined` as for `varint`, with up to ten bytes. */
  varlong(): number | undefined {
    const first = this.#buffer[this.#position]
    if (first === undefined) return undefined
    this.#position += 1
    let magnitude = (first & 0x7f) >>> 1
    let byte = first
    for (let scale = 64; byte >= 0x80; scale *= 128) {
      const next = scale > 2 ** 62 ? undefined : this.#buffer[this.#position]
      if (next === undefined) return undefined
      this.#position += 1
      magnitude += (next & 0x7f) * scale
      byte = next
    }
    return (first & 1) === 0 ? magnitude : -magnitude - 1
  }
}
