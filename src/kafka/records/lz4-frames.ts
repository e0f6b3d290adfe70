import { compressFrameSync, decompressFrameSync } from 'lz4-napi'
import { damaged, tooLarge } from './compression-errors.ts'

const MAGIC = 0x184d2204
const UNCOMPRESSED = 0x8000_0000
const BLOCK_BYTES_SMALLEST = 65_536

/** Compresses as one LZ4 frame. */
export function compressLz4(bytes: Buffer): Buffer {
  return compressFrameSync(bytes)
}

/**
 * Reads an LZ4 frame.
 *
 * @throws PROTOCOL_VIOLATION
 */
export function decompressLz4(bytes: Buffer, maxBytes: number): Buffer {
  // The decoder has no bound of its own.
  if (largestContent(bytes) > maxBytes) tooLarge('lz4')
  try {
    return decompressFrameSync(bytes)
  } catch (error) {
    return damaged('lz4', error)
  }
}

/** The most that the frame's blocks can hold: all are full but the last. */
function largestContent(bytes: Buffer): number {
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== MAGIC) damaged('lz4', 'it does not begin like a frame')
  const flags = bytes.readUInt8(4)
  const blockBytes = BLOCK_BYTES_SMALLEST * 4 ** (((bytes.readUInt8(5) >>> 4) & 7) - 4)
  const hasBlockChecksums = (flags & 0x10) !== 0
  // Content size and dictionary id are there by flags; a header checksum ends the descriptor.
  let at = 7 + ((flags & 0x08) === 0 ? 0 : 8) + ((flags & 0x01) === 0 ? 0 : 4)
  let content = 0
  while (at + 4 <= bytes.length) {
    const header = bytes.readUInt32LE(at)
    if (header === 0) return content
    const stored = header >= UNCOMPRESSED ? header - UNCOMPRESSED : header
    content += header >= UNCOMPRESSED ? stored : blockBytes
    at += 4 + stored + (hasBlockChecksums ? 4 : 0)
  }
  return content
}
