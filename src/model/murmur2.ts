import { assert } from './assert.ts'

const SEED = 0x9747b28c
const MULTIPLIER = 0x5bd1e995
const SHIFT = 24

/** The 32-bit murmur2 hash of the first `length` bytes, as the JVM has it (signed). Kafka: `Utils.murmur2`. */
export function murmur2(bytes: Uint8Array, length: number = bytes.length): number {
  const tail = length & ~3
  let hash = SEED ^ length
  for (let at = 0; at < tail; at += 4) {
    // The reads are in bounds; `?? 0` is for the compiler and costs nothing measurable.
    let word =
      (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
    word = Math.imul(word, MULTIPLIER)
    word ^= word >>> SHIFT
    hash = Math.imul(hash, MULTIPLIER) ^ Math.imul(word, MULTIPLIER)
  }
  const rest = length & 3
  if (rest > 0) {
    if (rest === 3) hash ^= (bytes[tail + 2] ?? 0) << 16
    if (rest >= 2) hash ^= (bytes[tail + 1] ?? 0) << 8
    hash = Math.imul(hash ^ (bytes[tail] ?? 0), MULTIPLIER)
  }
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER)
  return hash ^ (hash >>> 15)
}

/** As `murmur2`, of bytes that lie within others. */
export function murmur2Within(view: DataView, start: number, length: number): number {
  const tail = start + (length & ~3)
  let hash = SEED ^ length
  for (let at = start; at < tail; at += 4) {
    let word = Math.imul(view.getInt32(at, true), MULTIPLIER)
    word ^= word >>> SHIFT
    hash = Math.imul(hash, MULTIPLIER) ^ Math.imul(word, MULTIPLIER)
  }
  const rest = length & 3
  if (rest > 0) {
    if (rest === 3) hash ^= view.getUint8(tail + 2) << 16
    if (rest >= 2) hash ^= view.getUint8(tail + 1) << 8
    hash = Math.imul(hash ^ view.getUint8(tail), MULTIPLIER)
  }
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER)
  return hash ^ (hash >>> 15)
}

/**
 * The partition the JVM's default partitioner chooses for the first `length` bytes of a key. Kafka:
 * `BuiltInPartitioner.partitionForKey`.
 */
export function partitionForKey(key: Uint8Array, partitionCount: number, length: number = key.length): number {
  return partitionForHash(murmur2(key, length), partitionCount)
}

/** As `partitionForKey`, of a key whose `murmur2` is known. */
export function partitionForHash(hash: number, partitionCount: number): number {
  assert(partitionCount > 0, 'a topic has partitions')
  return (hash & 0x7fff_ffff) % partitionCount
}
