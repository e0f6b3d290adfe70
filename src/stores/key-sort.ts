import type { KeyTable } from './key-table.ts'

/** Entries whose keys are sorted. */
export type SortedKeys = Pick<KeyTable, 'compareKeys' | 'wordAt' | 'keyLength'>

const WORD_BYTES = 4
/** Fewer are sorted by comparing keys. */
const RADIX_MIN = 32
/** A word and an index below this fit into one integer. */
const INDEXES = 2_097_152

/**
 * Sorts entries by the bytes of their keys, in place. Many at once: four bytes of each key and its index are one number, and
 * numbers are sorted many times faster than keys are compared; entries with the same four bytes by the next four.
 */
export function sortByKey(entries: number[], keys: SortedKeys): void {
  sortRange(entries, 0, entries.length, 0, keys)
}

function sortRange(entries: number[], from: number, to: number, at: number, keys: SortedKeys): void {
  const count = to - from
  if (count < RADIX_MIN || count > INDEXES || !someReach(entries, from, to, at, keys)) {
    const sorted = entries.slice(from, to).toSorted((a, b) => keys.compareKeys(a, b))
    for (const [index, entry] of sorted.entries()) entries[from + index] = entry
    return
  }
  const words = new Float64Array(count)
  for (let index = 0; index < count; index++)
    words[index] = keys.wordAt(entries[from + index] ?? -1, at) * INDEXES + index
  words.sort()
  const before = entries.slice(from, to)
  let first = 0
  let firstWord = -1
  for (let index = 0; index < count; index++) {
    const sorted = words[index] ?? 0
    const word = Math.floor(sorted / INDEXES)
    entries[from + index] = before[sorted - word * INDEXES] ?? -1
    if (word === firstWord) continue
    if (index - first > 1) sortRange(entries, from + first, from + index, at + WORD_BYTES, keys)
    first = index
    firstWord = word
  }
  if (count - first > 1) sortRange(entries, from + first, to, at + WORD_BYTES, keys)
}

/** Whether a key goes on at `at`: behind the end of all of them, words tell nothing more. */
function someReach(entries: readonly number[], from: number, to: number, at: number, keys: SortedKeys): boolean {
  for (let index = from; index < to; index++) if (keys.keyLength(entries[index] ?? -1) > at) return true
  return false
}
