import { assert } from '../../model/assert.ts'

const TWO_32 = 4_294_967_296

/** Writes the primitive types of Kafka's protocol one after another into a buffer that grows. */
export class WireWriter {
  #buffer: Buffer
  #position = 0

  constructor(initialBytes = 256) {
    this.#buffer = Buffer.allocUnsafe(initialBytes)
  }

  /** How many bytes are written. */
  get bytes(): number {
    return this.#position
  }

  /** What was written, without a copy; the writer is not used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#position)
  }

  int8(value: number): void {
    const at = this.#reserve(1)
    this.#position = this.#buffer.writeInt8(value, at)
  }

  bool(value: boolean): void {
    this.int8(value ? 1 : 0)
  }

  int16(value: number): void {
    const at = this.#reserve(2)
    this.#position = this.#buffer.writeInt16BE(value, at)
  }

  uint16(value: number): void {
    const at = this.#reserve(2)
    this.#position = this.#buffer.writeUInt16BE(value, at)
  }

  int32(value: number): void {
    const at = this.#reserve(4)
    this.#position = this.#buffer.writeInt32BE(value, at)
  }

  uint32(value: number): void {
    const at = this.#reserve(4)
    this.#position = this.#buffer.writeUInt32BE(value, at)
  }

  float64(value: number): void {
    const at = this.#reserve(8)
    this.#position = this.#buffer.writeDoubleBE(value, at)
  }

  /** A number must be exact (±(2^53−1)); golden values beyond come as bigint. */
  int64(value: number | bigint): void {
    const at = this.#reserve(8)
    if (typeof value === 'bigint') {
      this.#position = this.#buffer.writeBigInt64BE(value, at)
      return
    }
    assert(Number.isSafeInteger(value), 'int64 is exact', { value })
    this.#buffer.writeInt32BE(Math.floor(value / TWO_32), at)
    this.#position = this.#buffer.writeUInt32BE(value >>> 0, at + 4)
  }

  /** Unsigned LEB128 of the 32 bits, as compact lengths and tags are written (KIP-482). */
  unsignedVarint(value: number): void {
    let rest = value >>> 0
    let at = this.#reserve(5)
    while (rest >= 0x80) {
      this.#buffer[at] = (rest & 0x7f) | 0x80
      at += 1
      rest >>>= 7
    }
    this.#buffer[at] = rest
    this.#position = at + 1
  }

  /** The bytes without a length. */
  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length)
    this.#buffer.set(bytes, at)
    this.#position = at + bytes.length
  }

  /** A length of −1 stands for null; compact lengths are one more than the length. */
  string(value: string | null, compact: boolean): void {
    const bytes = value === null ? -1 : Buffer.byteLength(value)
    if (compact) this.unsignedVarint(bytes + 1)
    else this.int16(bytes)
    if (value === null) return
    const at = this.#reserve(bytes)
    this.#position = at + this.#buffer.write(value, at, 'utf8')
  }

  /** As `string`, with a four-byte length where it is not compact. */
  bytesField(value: Uint8Array | null, compact: boolean): void {
    this.arrayLength(value === null ? -1 : value.length, compact)
    if (value !== null) this.raw(value)
  }

  /** −1 stands for null. */
  arrayLength(length: number, compact: boolean): void {
    if (compact) this.unsignedVarint(length + 1)
    else this.int32(length)
  }

  /** Makes room; the position where to write. */
  #reserve(bytes: number): number {
    const needed = this.#position + bytes
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
      this.#buffer.copy(larger, 0, 0, this.#position)
      this.#buffer = larger
    }
    return this.#position
  }
}
