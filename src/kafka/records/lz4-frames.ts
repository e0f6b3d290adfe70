import { createRequire } from 'node:module'
import { assert } from '../../model/assert.ts'
import { damaged, tooLarge } from './compression-errors.ts'

const MAGIC = 0x184d2204
const UNCOMPRESSED = 0x8000_0000
const BLOCK_BYTES_SMALLEST = 65_536
/** Version 1 of the format, blocks that do not refer to each other, no checksums: the batch has one. */
const FLAGS = 0x60
/**
 * The sizes that a block may have at most: their code, and the checksum of a header with it and the flags above, the second
 * byte of its xxHash32.
 */
const BLOCK_SIZES = [
  { bytes: BLOCK_BYTES_SMALLEST, code: 0x40, check: 0x82 },
  { bytes: 262_144, code: 0x50, check: 0xfb },
  { bytes: 1_048_576, code: 0x60, check: 0x51 },
] as const
const LARGEST_BLOCK = { bytes: 4_194_304, code: 0x70, check: 0x73 } as const
/** In front of a block that is compressed alone the codec writes how long it was. */
const LENGTH_BYTES = 4
const END = Buffer.alloc(4)

interface Lz4 {
  compressSync(bytes: Buffer): Buffer
  decompressFrameSync(bytes: Buffer): Buffer
}

let loaded: Lz4 | undefined

/** The native codec takes memory and time to load, so only a topic that needs it brings it in. */
function lz4(): Lz4 {
  if (loaded === undefined) {
    const native: unknown = createRequire(import.meta.url)('lz4-napi')
    assert(isLz4(native), 'lz4-napi has the calls of its version')
    loaded = native
  }
  return loaded
}

function isLz4(module: unknown): module is Lz4 {
  return typeof module === 'object' && module !== null && 'compressSync' in module && 'decompressFrameSync' in module
}

/**
 * Compresses as one LZ4 frame, of a single block up to 4 MB: the codec's own frames take a third longer, because it copies
 * every block into them.
 */
export function compressLz4(bytes: Buffer): Buffer {
  const size = BLOCK_SIZES.find(each => bytes.length <= each.bytes) ?? LARGEST_BLOCK
  const header = Buffer.allocUnsafe(7)
  header.writeUInt32LE(MAGIC)
  header[4] = FLAGS
  header[5] = size.code
  header[6] = size.check
  const parts: Buffer[] = [header]
  for (let at = 0; at < bytes.length; at += size.bytes) {
    const content = bytes.subarray(at, at + size.bytes)
    const block = lz4().compressSync(content).subarray(LENGTH_BYTES)
    const isSmaller = block.length < content.length
    parts.push(blockHeader(isSmaller ? block.length : content.length + UNCOMPRESSED), isSmaller ? block : content)
  }
  parts.push(END)
  return Buffer.concat(parts)
}

function blockHeader(value: number): Buffer {
  const header = Buffer.allocUnsafe(4)
  header.writeUInt32LE(value)
  return header
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
    return lz4().decompressFrameSync(bytes)
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
