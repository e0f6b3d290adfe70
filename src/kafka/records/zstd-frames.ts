import * as zlib from 'node:zlib'
import { MillraceError } from '../../model/errors.ts'
import { damaged, tooLarge } from './compression-errors.ts'

const MAGIC = 0xfd2fb528
const BLOCK_BYTES_MAX = 131_072

interface ZstdCodec {
  compress(bytes: Buffer): Buffer
  decompress(bytes: Buffer, maxBytes: number): Buffer
}

/** Node has zstd from 22.15 on; before, a WebAssembly build is loaded by `prepareZstd`. */
let codec: ZstdCodec | undefined = hasZstd(zlib) ? nativeCodec(zlib) : undefined

/** The one loading: the module keeps its memory to itself and cannot be set up twice. */
let loading: Promise<ZstdCodec> | undefined

/** Loads what Node itself lacks; once, before the first batch. */
export async function prepareZstd(): Promise<void> {
  if (codec !== undefined) return
  loading ??= wasmCodec()
  codec = await loading
}

/** Compresses as one zstd frame. @throws USAGE without `prepareZstd` */
export function compressZstd(bytes: Buffer): Buffer {
  return prepared().compress(bytes)
}

/** Reads a zstd frame. @throws PROTOCOL_VIOLATION; USAGE without `prepareZstd` */
export function decompressZstd(bytes: Buffer, maxBytes: number): Buffer {
  return prepared().decompress(bytes, maxBytes)
}

function prepared(): ZstdCodec {
  if (codec === undefined)
    throw new MillraceError('USAGE', { what: 'prepareCompression() was not awaited before zstd.' })
  return codec
}

interface NativeZstd {
  zstdCompressSync(bytes: Buffer): Buffer
  zstdDecompressSync(bytes: Buffer, options: { maxOutputLength: number }): Buffer
}

function hasZstd(module: object): module is NativeZstd {
  return 'zstdCompressSync' in module && 'zstdDecompressSync' in module
}

function nativeCodec(native: NativeZstd): ZstdCodec {
  return {
    compress: bytes => native.zstdCompressSync(bytes),
    decompress: (bytes, maxBytes) => {
      try {
        return native.zstdDecompressSync(bytes, { maxOutputLength: maxBytes })
      } catch (error) {
        return error instanceof RangeError ? tooLarge('zstd') : damaged('zstd', error)
      }
    },
  }
}

async function wasmCodec(): Promise<ZstdCodec> {
  const wasm = await import('@bokuweb/zstd-wasm')
  await wasm.init()
  return {
    compress: bytes => bufferOf(wasm.compress(bytes, 3)),
    decompress: (bytes, maxBytes) => {
      // It allocates what the frame claims, and one guess for a frame that claims nothing: both are settled here.
      const content = largestContent(bytes)
      if (content > maxBytes) tooLarge('zstd')
      try {
        return bufferOf(wasm.decompress(bytes, { defaultHeapSize: Math.max(content, 1) }))
      } catch (error) {
        return damaged('zstd', error)
      }
    },
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** How many bytes the frame holds: what its header says, else the most its blocks can hold. RFC 8878. */
function largestContent(bytes: Buffer): number {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== MAGIC) damaged('zstd', 'it does not begin like a frame')
  const descriptor = bytes.readUInt8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeFlag = descriptor >>> 6
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag
  const dictionaryFlag = descriptor & 3
  const dictionaryBytes = dictionaryFlag === 3 ? 4 : dictionaryFlag
  const sizeAt = 5 + Number(!isSingleSegment) + dictionaryBytes
  if (sizeAt + sizeBytes > bytes.length) damaged('zstd', 'it ends inside its header')
  switch (sizeBytes) {
    case 0:
      return largestBlocks(bytes, sizeAt)
    case 1:
      return bytes.readUInt8(sizeAt)
    case 2:
      return bytes.readUInt16LE(sizeAt) + 256
    case 4:
      return bytes.readUInt32LE(sizeAt)
    default:
      return Number(bytes.readBigUInt64LE(sizeAt))
  }
}

function largestBlocks(bytes: Buffer, first: number): number {
  let content = 0
  for (let at = first; at + 3 <= bytes.length;) {
    const header = bytes.readUIntLE(at, 3)
    const size = header >>> 3
    const isRepeatedByte = ((header >>> 1) & 3) === 1
    const isStored = ((header >>> 1) & 3) === 0
    content += isRepeatedByte || isStored ? size : BLOCK_BYTES_MAX
    if ((header & 1) === 1) return content
    at += 3 + (isRepeatedByte ? 1 : size)
  }
  return content
}
