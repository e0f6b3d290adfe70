import { createRequire } from 'node:module'

type Checksum = (bytes: Buffer) => number

/** CRC-32C (Castagnoli) of bytes, unsigned: what a record batch carries. Native where the package has a binary. */
export function crc32c(bytes: Buffer): number {
  return checksum(bytes)
}

/** The same in JavaScript, eight bytes a step; for platforms without a native binary. */
export function crc32cInJavaScript(bytes: Uint8Array): number {
  const length = bytes.length
  let crc = -1
  let at = 0
  for (; at + 8 <= length; at += 8) {
    const low =
      crc ^
      ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24))
    crc =
      entry(7, low & 0xff) ^
      entry(6, (low >>> 8) & 0xff) ^
      entry(5, (low >>> 16) & 0xff) ^
      entry(4, low >>> 24) ^
      entry(3, bytes[at + 4] ?? 0) ^
      entry(2, bytes[at + 5] ?? 0) ^
      entry(1, bytes[at + 6] ?? 0) ^
      entry(0, bytes[at + 7] ?? 0)
  }
  for (; at < length; at += 1) crc = entry(0, (crc ^ (bytes[at] ?? 0)) & 0xff) ^ (crc >>> 8)
  return ~crc >>> 0
}

function entry(table: number, byte: number): number {
  return TABLES[(table << 8) | byte] ?? 0
}

/** Eight tables of 256: table n tells what a byte does to the checksum n bytes later. */
const TABLES = ((): Int32Array => {
  const reversedPolynomial = 0x82f63b78
  const tables = new Int32Array(8 * 256)
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ reversedPolynomial
    tables[byte] = crc
  }
  for (let at = 256; at < tables.length; at += 1) {
    const earlier = tables[at - 256] ?? 0
    tables[at] = (tables[earlier & 0xff] ?? 0) ^ (earlier >>> 8)
  }
  return tables
})()

/** The package throws at import where it has no binary for the platform; its JavaScript twin does then. */
function nativeChecksum(): Checksum {
  try {
    const native: unknown = createRequire(import.meta.url)('@node-rs/crc32')
    return hasChecksum(native) ? bytes => native.crc32c(bytes) : crc32cInJavaScript
  } catch {
    return crc32cInJavaScript
  }
}

function hasChecksum(module: unknown): module is { crc32c: Checksum } {
  return typeof module === 'object' && module !== null && 'crc32c' in module && typeof module.crc32c === 'function'
}

const checksum: Checksum = nativeChecksum()
