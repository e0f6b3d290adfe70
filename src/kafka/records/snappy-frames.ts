import { createRequire } from 'node:module'
import { assert } from '../../model/assert.ts'
import { damaged, tooLarge } from './compression-errors.ts'

/** What Java's snappy streams begin with, then two version numbers. */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const XERIAL_HEADER = Buffer.concat([XERIAL_MAGIC, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])])
const BLOCK_BYTES = 32_768

interface Snappy {
  compressSync(bytes: Buffer): Buffer
  uncompressSync(bytes: Buffer, options: { readonly asBuffer: true }): Buffer | string
}

let loaded: Snappy | undefined

/** The native codec takes memory and time to load, so only a topic that needs it brings it in. */
function snappy(): Snappy {
  if (loaded === undefined) {
    const native: unknown = createRequire(import.meta.url)('snappy')
    assert(isSnappy(native), 'snappy has the calls of its version')
    loaded = native
  }
  return loaded
}

function isSnappy(module: unknown): module is Snappy {
  return typeof module === 'object' && module !== null && 'compressSync' in module && 'uncompressSync' in module
}

/** Compresses as Java's `SnappyOutputStream` does: blocks of 32 KB, each with its length; the JVM reads nothing else. */
export function compressSnappy(bytes: Buffer): Buffer {
  const parts: Buffer[] = [XERIAL_HEADER]
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const block = snappy().compressSync(bytes.subarray(at, at + BLOCK_BYTES))
    const length = Buffer.allocUnsafe(4)
    length.writeInt32BE(block.length)
    parts.push(length, block)
  }
  return Buffer.concat(parts)
}

/**
 * Reads Java's framing, and the bare block that other clients send.
 *
 * @throws PROTOCOL_VIOLATION
 */
export function decompressSnappy(bytes: Buffer, maxBytes: number): Buffer {
  if (!bytes.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return decompressBlock(bytes, maxBytes)
  const parts: Buffer[] = []
  let total = 0
  let at = XERIAL_HEADER.length
  while (at < bytes.length) {
    if (at + 4 > bytes.length) damaged('snappy', 'it ends inside a length')
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) damaged('snappy', 'it ends inside a block')
    const block = decompressBlock(bytes.subarray(at + 4, end), maxBytes - total)
    parts.push(block)
    total += block.length
    at = end
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, total)
}

function decompressBlock(block: Buffer, maxBytes: number): Buffer {
  if (uncompressedBytes(block) > maxBytes) tooLarge('snappy')
  try {
    const bytes = snappy().uncompressSync(block, { asBuffer: true })
    return typeof bytes === 'string' ? Buffer.from(bytes) : bytes
  } catch (error) {
    return damaged('snappy', error)
  }
}

/** A block begins with its uncompressed length as a varint. */
function uncompressedBytes(block: Buffer): number {
  let value = 0
  for (let index = 0; index < 5; index += 1) {
    const byte = block[index]
    if (byte === undefined) break
    value += (byte & 0x7f) * 128 ** index
    if (byte < 0x80) return value
  }
  return damaged('snappy', 'its length is no varint')
}
