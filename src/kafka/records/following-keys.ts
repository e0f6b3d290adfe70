import type { UpcomingKeys } from '../../model/upcoming-keys.ts'

/**
 * Adds the keys of the `count` records at `start` in a batch, until there is room for no more. Stops at what is no record:
 * that is for whoever reads the records to tell.
 */
export function addFollowingKeys(records: Buffer, start: number, count: number, keys: UpcomingKeys): void {
  let at = start
  for (let left = count; left > 0 && !keys.isFull; left -= 1) {
    const bodyAt = behindVarint(records, at)
    const end = bodyAt + varintAt(records, at)
    // Attributes, timestamp and offset come first.
    const sizeAt = behindVarint(records, behindVarint(records, bodyAt + 1))
    const keyAt = behindVarint(records, sizeAt)
    const keyBytes = varintAt(records, sizeAt)
    if (end <= bodyAt || end > records.length || keyAt + keyBytes > end) return
    keys.add(keyAt, keyBytes)
    at = end
  }
}

function behindVarint(records: Buffer, start: number): number {
  let at = start
  while ((records[at] ?? 0) >= 0x80) at += 1
  return at + 1
}

/** A 32-bit zigzag varint. */
function varintAt(records: Buffer, start: number): number {
  let at = start
  let byte = records[at] ?? 0
  let value = byte & 0x7f
  for (let shift = 7; byte >= 0x80; shift += 7) {
    at += 1
    byte = records[at] ?? 0
    value |= (byte & 0x7f) << shift
  }
  return (value >>> 1) ^ -(value & 1)
}
