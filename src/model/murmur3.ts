const C1 = 0x87c37b91114253d5n
const C2 = 0x4cf5ad432745937fn
const MASK = 0xffff_ffff_ffff_ffffn
const SEED = 104_729n

/**
 * The 128-bit murmur3 hash of bytes (x64 form), 16 bytes big-endian: what foreign-key joins send along with a left
 * value. Kafka Streams: `Murmur3.hash128`. Off the hot path, therefore in bigint.
 */
export function murmur3Hash128(bytes: Uint8Array): Buffer {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const blocks = view.length & ~15
  let h1 = SEED
  let h2 = SEED
  for (let at = 0; at < blocks; at += 16) {
    h1 ^= mixFirst(view.readBigUInt64LE(at))
    h1 = add(multiply(add(rotate(h1, 27n), h2), 5n), 0x52dce729n)
    h2 ^= mixSecond(view.readBigUInt64LE(at + 8))
    h2 = add(multiply(add(rotate(h2, 31n), h1), 5n), 0x38495ab5n)
  }
  const tail = Buffer.alloc(16)
  view.copy(tail, 0, blocks)
  h2 ^= mixSecond(tail.readBigUInt64LE(8))
  h1 ^= mixFirst(tail.readBigUInt64LE(0))
  h1 ^= BigInt(view.length)
  h2 ^= BigInt(view.length)
  h1 = add(h1, h2)
  h2 = add(h2, h1)
  h1 = finish(h1)
  h2 = finish(h2)
  h1 = add(h1, h2)
  h2 = add(h2, h1)
  const hash = Buffer.allocUnsafe(16)
  hash.writeBigUInt64BE(h1, 0)
  hash.writeBigUInt64BE(h2, 8)
  return hash
}

/** A tail's missing bytes are zero, and zero mixes to zero, so no case for short tails is needed. */
function mixFirst(word: bigint): bigint {
  return multiply(rotate(multiply(word, C1), 31n), C2)
}

function mixSecond(word: bigint): bigint {
  return multiply(rotate(multiply(word, C2), 33n), C1)
}

function finish(word: bigint): bigint {
  const once = multiply(word ^ (word >> 33n), 0xff51afd7ed558ccdn)
  const twice = multiply(once ^ (once >> 33n), 0xc4ceb9fe1a85ec53n)
  return twice ^ (twice >> 33n)
}

function rotate(word: bigint, bits: bigint): bigint {
  return ((word << bits) | (word >> (64n - bits))) & MASK
}

function multiply(a: bigint, b: bigint): bigint {
  return (a * b) & MASK
}

function add(a: bigint, b: bigint): bigint {
  return (a + b) & MASK
}
