/** Slots of a `java.util.HashMap` at first, and how full it may become. */
const SLOTS_MIN = 16
const LOAD_FACTOR = 0.75

/** Slots that a Java hash set of so many elements has, if it had `slots` before: it never shrinks. */
export function javaSlots(elements: number, slots: number = SLOTS_MIN): number {
  let grown = slots
  while (elements > grown * LOAD_FACTOR) grown *= 2
  return grown
}

/** Byte strings in the order a Java hash set of that many slots gives them, when they were added in the order given. */
export function javaByteOrder(keys: Iterable<Buffer>, slots: number): readonly Buffer[] {
  const placed = [...keys].map(key => {
    const hash = arrayHash(key)
    return { key, slot: (hash ^ (hash >>> 16)) & (slots - 1) }
  })
  return placed.toSorted((a, b) => a.slot - b.slot).map(({ key }) => key)
}

/** `java.util.Arrays.hashCode(byte[])`. */
function arrayHash(bytes: Buffer): number {
  let hash = 1
  for (const byte of bytes) hash = (Math.imul(hash, 31) + ((byte << 24) >> 24)) | 0
  return hash
}
