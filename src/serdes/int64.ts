/** What the upper half of a long counts. */
export const TWO_POW_32 = 4_294_967_296
/** Upper halves of the integers a number holds exactly: ±2^53 is 2^21 in the upper 32 bits. */
const UPPER_MAX = 2_097_151
const UPPER_MIN = -2_097_152

/** Bytes of a Java `long`. */
export const INT64_BYTES = 8

/** Writes a safe integer as 8 bytes big-endian in two halves: no BigInt on the hot path. */
export function writeSafeInt64(buffer: Buffer, value: number, at: number): void {
  const upper = Math.floor(value / TWO_POW_32)
  // Shifts take the number modulo 2^32, which is the two's complement lower half for negative numbers too.
  buffer[at] = upper >>> 24
  buffer[at + 1] = upper >>> 16
  buffer[at + 2] = upper >>> 8
  buffer[at + 3] = upper
  buffer[at + 4] = value >>> 24
  buffer[at + 5] = value >>> 16
  buffer[at + 6] = value >>> 8
  buffer[at + 7] = value
}

/** Reads 8 bytes big-endian; `undefined` when the integer is beyond ±(2^53 − 1). */
export function readSafeInt64(buffer: Buffer, at: number): number | undefined {
  const upper = buffer.readInt32BE(at)
  if (upper > UPPER_MAX || upper < UPPER_MIN) return undefined
  const value = upper * TWO_POW_32 + buffer.readUInt32BE(at + 4)
  return Number.isSafeInteger(value) ? value : undefined
}
