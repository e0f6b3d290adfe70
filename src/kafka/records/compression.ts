import { gunzipSync, gzipSync } from 'node:zlib'
import type { CompressionType } from './batch-layout.ts'
import { damaged, tooLarge } from './compression-errors.ts'
import { compressLz4, decompressLz4 } from './lz4-frames.ts'
import { compressSnappy, decompressSnappy } from './snappy-frames.ts'
import { compressZstd, decompressZstd, prepareZstd } from './zstd-frames.ts'

export type { CompressionType } from './batch-layout.ts'

/** No batch holds more: brokers refuse them far below, and what says otherwise is damaged or an attack. */
const DECOMPRESSED_BYTES_MAX = 512 * 1024 * 1024

/** Loads the codecs Node lacks (zstd before 22.15). Await it once before the first batch is read or sealed. */
export async function prepareCompression(): Promise<void> {
  await prepareZstd()
}

/** The bytes compressed in the form that the JVM reads. */
export function compress(codec: CompressionType, bytes: Buffer): Buffer {
  switch (codec) {
    case 'none':
      return bytes
    case 'gzip':
      return gzipSync(bytes)
    case 'snappy':
      return compressSnappy(bytes)
    case 'lz4':
      return compressLz4(bytes)
    case 'zstd':
      return compressZstd(bytes)
  }
}

/**
 * The bytes as they were before `compress`, or before another client's.
 *
 * @throws PROTOCOL_VIOLATION for damaged bytes, or for more than 512 MB
 */
export function decompress(codec: CompressionType, bytes: Buffer, maxBytes = DECOMPRESSED_BYTES_MAX): Buffer {
  switch (codec) {
    case 'none':
      return bytes
    case 'gzip':
      return gunzip(bytes, maxBytes)
    case 'snappy':
      return decompressSnappy(bytes, maxBytes)
    case 'lz4':
      return decompressLz4(bytes, maxBytes)
    case 'zstd':
      return decompressZstd(bytes, maxBytes)
  }
}

function gunzip(bytes: Buffer, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    return error instanceof RangeError ? tooLarge('gzip') : damaged('gzip', error)
  }
}
