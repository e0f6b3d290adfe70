/** Up to here a loop copies faster than a call into the runtime. */
const LOOP_BYTES_MAX = 32

/** Copies all of some bytes to a place; made for the short keys and values of records. */
export function copyBytes(bytes: Uint8Array, target: Buffer, start: number): void {
  const { length } = bytes
  if (length > LOOP_BYTES_MAX) {
    target.set(bytes, start)
    return
  }
  let index = 0
  // A few at a time, because each turn of a loop costs as much as a byte.
  for (; index + 3 < length; index += 4) {
    const to = start + index
    target[to] = bytes[index] ?? 0
    target[to + 1] = bytes[index + 1] ?? 0
    target[to + 2] = bytes[index + 2] ?? 0
    target[to + 3] = bytes[index + 3] ?? 0
  }
  for (; index < length; index += 1) target[start + index] = bytes[index] ?? 0
}
