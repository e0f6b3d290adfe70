import { MillraceError } from '../../model/errors.ts'

const TWO_32 = 4_294_967_296

/** How a reader gives int64: as exact numbers, or (for golden files) as bigint. */
export type Int64Form = 'number' | 'bigint'

/** Reads the primitive types of Kafka's protocol one after another; bytes are slices, nothing is read out of bounds. */
export class WireReader {
  readonly int64Form: Int64Form
  readonly #buffer: Buffer
  readonly #subject: string
  #position: number

  /**
   * @param subject - what the bytes are, for messages: `FetchResponse version 12`
   */
  constructor(buffer: Buffer, subject: string, position = 0, int64Form: Int64Form = 'number') {
    this.#buffer = buffer
    this.#subject = subject
    this.#position = position
    this.int64Form = int64Form
  }

  /** Where the next byte is read. */
  get position(): number {
    return this.#position
  }

  /** How many bytes are left. */
  get left(): number {
    return this.#buffer.length - this.#position
  }

  int8(): number {
    return this.#buffer.readInt8(this.#take(1))
  }

  bool(): boolean {
    return this.int8() !== 0
  }

  int16(): number {
    return this.#buffer.readInt16BE(this.#take(2))
  }

  uint16(): number {
    return this.#buffer.readUInt16BE(this.#take(2))
  }

  int32(): number {
    return this.#buffer.readInt32BE(this.#take(4))
  }

  uint32(): number {
    return this.#buffer.readUInt32BE(this.#take(4))
  }

  float64(): number {
    return this.#buffer.readDoubleBE(this.#take(8))
  }

  /** @throws PROTOCOL_VIOLATION for a value that a number cannot hold exactly, unless bigints are wanted */
  int64(): number | bigint {
    const at = this.#take(8)
    if (this.int64Form === 'bigint') return this.#buffer.readBigInt64BE(at)
    const value = this.#buffer.readInt32BE(at) * TWO_32 + this.#buffer.readUInt32BE(at + 4)
    if (!Number.isSafeInteger(value)) this.fail(`an int64 beyond 2^53 at byte ${String(at)}`)
    return value
  }

  /** The 32 bits of an unsigned LEB128. */
  unsignedVarint(): number {
    let value = 0
    for (let shift = 0; shift <= 28; shift += 7) {
      const byte = this.#buffer.readUInt8(this.#take(1))
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    return this.fail(`a varint of more than 5 bytes at byte ${String(this.#position)}`)
  }

  /** That many bytes, as a slice. */
  raw(bytes: number): Buffer {
    const at = this.#take(bytes)
    return this.#buffer.subarray(at, at + bytes)
  }

  /** Null for a length of −1. */
  string(compact: boolean): string | null {
    const bytes = compact ? this.unsignedVarint() - 1 : this.int16()
    if (bytes < 0) return this.#absent(bytes)
    const at = this.#take(bytes)
    return this.#buffer.toString('utf8', at, at + bytes)
  }

  /** As `string`, a slice. */
  bytesField(compact: boolean): Buffer | null {
    const bytes = compact ? this.unsignedVarint() - 1 : this.int32()
    return bytes < 0 ? this.#absent(bytes) : this.raw(bytes)
  }

  /** −1 for null. Each element takes at least one byte, so a length beyond what is left is a lie: nothing is allocated for it. */
  arrayLength(compact: boolean): number {
    const length = compact ? this.unsignedVarint() - 1 : this.int32()
    if (length < -1 || length > this.left) {
      this.fail(`an array of ${String(length)} elements with ${String(this.left)} bytes left`)
    }
    return length
  }

  /** @throws PROTOCOL_VIOLATION, always */
  fail(what: string): never {
    throw new MillraceError('PROTOCOL_VIOLATION', { what: `${this.#subject} has ${what}` })
  }

  #absent(length: number): null {
    return length === -1 ? null : this.fail(`a length of ${String(length)} at byte ${String(this.#position)}`)
  }

  /** Moves on; the position of the bytes asked for. */
  #take(bytes: number): number {
    const at = this.#position
    if (at + bytes > this.#buffer.length) {
      this.fail(`${String(bytes)} bytes wanted at byte ${String(at)}, ${String(this.left)} left`)
    }
    this.#position = at + bytes
    return at
  }
}
