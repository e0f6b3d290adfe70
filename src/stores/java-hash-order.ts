import { assert } from '../model/assert.ts'

/** Slots of a `java.util.HashMap` at first, and how full it may become. */
const SLOTS_MIN = 16
const LOAD_FACTOR = 0.75
/** Most keys: a slot of so many and a key's number still fit into one exact integer. */
const KEYS_MAX = 67_108_864

/** Slots that a Java hash set of so many elements has, if it had `slots` before: it never shrinks. */
export function javaSlots(elements: number, slots: number = SLOTS_MIN): number {
  let grown = slots
  while (elements > grown * LOAD_FACTOR) grown *= 2
  return grown
}

/** Numbers of the keys in the order a Java hash set of that many slots gives them, when they were added in the order of their numbers. */
export function javaByteOrder(count: number, keyOf: (number: number) => Uint8Array, slots: number): readonly number[] {
  assert(count <= KEYS_MAX, 'the order of a Java hash set is known up to 2^26 keys', { count })
  const placed = new Float64Array(count)
  for (let number = 0; number < count; number++) {
    const hash = arrayHash(keyOf(number))
    // The number keeps those of one slot in the order they came in.
    placed[number] = ((hash ^ (hash >>> 16)) & (slots - 1)) * KEYS_MAX + number
  }
  placed.sort()
  return Array.from(placed, place => place % KEYS_MAX)
}

/** `java.util.Arrays.hashCode(byte[])`. */
function arrayHash(bytes: Uint8Array): number {
  let hash = 1
  const { length } = bytes
  for (let at = 0; at < length; at++) hash = (Math.imul(hash, 31) + (((bytes[at] ?? 0) << 24) >> 24)) | 0
  return hash
}
