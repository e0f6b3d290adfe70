const TWO_32 = 4_294_967_296

/** Writes a big-endian 64-bit integer given as an exact number (or a bigint). */
export function writeInt64(buffer: Buffer, at: number, value: number | bigint): void {
  if (typeof value === 'bigint') {
    buffer.writeBigInt64BE(value, at)
    return
  }
  buffer.writeInt32BE(Math.floor(value / TWO_32), at)
  buffer.writeUInt32BE(value >>> 0, at + 4)
}

/** Reads a big-endian 64-bit integer; exact up to ±(2^53−1), else the nearest number. */
export function readInt64(buffer: Buffer, at: number): number {
  return buffer.readInt32BE(at) * TWO_32 + buffer.readUInt32BE(at + 4)
}
