/** A 64-bit word in two halves of 32 bits: numbers that long are beyond what the processor adds and multiplies directly here. */
class Word {
  high = 0
  low = 0

  set(high: number, low: number): void {
    this.high = high | 0
    this.low = low | 0
  }

  xor(high: number, low: number): void {
    this.high ^= high
    this.low ^= low
  }

  /** Adds, modulo 2^64. */
  add(high: number, low: number): void {
    const sum = (this.low >>> 0) + (low >>> 0)
    this.high = (this.high + high + (sum > 0xffff_ffff ? 1 : 0)) | 0
    this.low = sum | 0
  }

  /** Multiplies, modulo 2^64. */
  multiply(high: number, low: number): void {
    const own = this.low
    this.high = (upperProduct(own, low) + Math.imul(this.high, low) + Math.imul(own, high)) | 0
    this.low = Math.imul(own, low)
  }

  /** Turns left by 1 to 31 bits. */
  rotate(bits: number): void {
    const { high, low } = this
    this.high = (high << bits) | (low >>> (32 - bits))
    this.low = (low << bits) | (high >>> (32 - bits))
  }

  /** Turns left by 33 bits. */
  rotate33(): void {
    const { high, low } = this
    this.high = (low << 1) | (high >>> 31)
    this.low = (high << 1) | (low >>> 31)
  }

  /** Xors with itself shifted right by 33 bits. */
  fold(): void {
    this.low ^= this.high >>> 1
  }
}

const C1_HIGH = 0x87c37b91
const C1_LOW = 0x114253d5
const C2_HIGH = 0x4cf5ad43
const C2_LOW = 0x2745937f
const SEED = 104_729
const BLOCK_BYTES = 16
const HASH_BYTES = 16

// Work space: a hash is complete before the next one begins.
const h1 = new Word()
const h2 = new Word()
const mixed = new Word()

/**
 * The 128-bit murmur3 hash of bytes (x64 form), 16 bytes big-endian: what foreign-key joins send along with a left
 * value. Kafka Streams: `Murmur3.hash128`.
 */
export function murmur3Hash128(bytes: Uint8Array): Buffer {
  const { length } = bytes
  const blocks = length - (length % BLOCK_BYTES)
  h1.set(0, SEED)
  h2.set(0, SEED)
  for (let at = 0; at < blocks; at += BLOCK_BYTES) {
    mixFirst(bytes, at)
    h1.rotate(27)
    h1.add(h2.high, h2.low)
    h1.multiply(0, 5)
    h1.add(0, 0x52dce729)
    mixSecond(bytes, at + 8)
    h2.rotate(31)
    h2.add(h1.high, h1.low)
    h2.multiply(0, 5)
    h2.add(0, 0x38495ab5)
  }
  mixSecond(bytes, blocks + 8)
  mixFirst(bytes, blocks)
  h1.xor(0, length)
  h2.xor(0, length)
  h1.add(h2.high, h2.low)
  h2.add(h1.high, h1.low)
  finish(h1)
  finish(h2)
  h1.add(h2.high, h2.low)
  h2.add(h1.high, h1.low)
  const hash = Buffer.allocUnsafe(HASH_BYTES)
  writeWord(hash, h1, 0)
  writeWord(hash, h2, 8)
  return hash
}

/** A tail's missing bytes are zero, and zero mixes to zero, so no case for short tails is needed. */
function mixFirst(bytes: Uint8Array, at: number): void {
  mixed.set(wordAt(bytes, at + 4), wordAt(bytes, at))
  mixed.multiply(C1_HIGH, C1_LOW)
  mixed.rotate(31)
  mixed.multiply(C2_HIGH, C2_LOW)
  h1.xor(mixed.high, mixed.low)
}

function mixSecond(bytes: Uint8Array, at: number): void {
  mixed.set(wordAt(bytes, at + 4), wordAt(bytes, at))
  mixed.multiply(C2_HIGH, C2_LOW)
  mixed.rotate33()
  mixed.multiply(C1_HIGH, C1_LOW)
  h2.xor(mixed.high, mixed.low)
}

function finish(word: Word): void {
  word.fold()
  word.multiply(0xff51afd7, 0xed558ccd)
  word.fold()
  word.multiply(0xc4ceb9fe, 0x1a85ec53)
  word.fold()
}

/** Four bytes, the lowest first; 0 for those past the end. */
function wordAt(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) return 0
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
}

/** The upper 32 bits of the product of two unsigned 32-bit numbers. */
function upperProduct(a: number, b: number): number {
  const aLow = a & 0xffff
  const aHigh = a >>> 16
  const bLow = b & 0xffff
  const bHigh = b >>> 16
  const middle = Math.imul(aHigh, bLow) >>> 0
  const carried = (Math.imul(aLow, bLow) >>> 16) + (middle & 0xffff) + (Math.imul(aLow, bHigh) >>> 0)
  return Math.imul(aHigh, bHigh) + (middle >>> 16) + Math.floor(carried / 0x1_0000)
}

function writeWord(bytes: Buffer, { high, low }: Word, at: number): void {
  bytes.writeInt32BE(high, at)
  bytes.writeInt32BE(low, at + 4)
}
