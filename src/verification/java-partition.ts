/**
 * Java's default partition of a key, a second time and in another way than the engine's: 64-bit integers, as the
 * definition of murmur2 reads. A checker that shared the engine's hash would agree with its mistakes. Kafka: `Utils.murmur2`.
 */
export function javaPartition(key: Uint8Array, partitions: number): number {
  const mask = 0xffff_ffffn
  const m = 0x5bd1_e995n
  const whole = key.length - (key.length % 4)
  let h = 0x9747_b28cn ^ BigInt(key.length)
  for (let at = 0; at < whole; at += 4) {
    let k = 0n
    for (let byte = 3; byte >= 0; byte--) k = (k << 8n) | BigInt(key[at + byte] ?? 0)
    k = (k * m) & mask
    k = ((k ^ (k >> 24n)) * m) & mask
    h = ((h * m) & mask) ^ k
  }
  let rest = 0n
  for (let at = key.length - 1; at >= whole; at--) rest = (rest << 8n) | BigInt(key[at] ?? 0)
  if (whole < key.length) h = ((h ^ rest) * m) & mask
  h = ((h ^ (h >> 13n)) * m) & mask
  h ^= h >> 15n
  return Number(h & 0x7fff_ffffn) % partitions
}
