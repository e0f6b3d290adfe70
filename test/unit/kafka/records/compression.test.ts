import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { compressSync } from 'snappy'
import {
  compress,
  type CompressionType,
  decompress,
  prepareCompression,
} from '../../../../src/kafka/records/compression.ts'
import { MillraceError } from '../../../../src/model/errors.ts'

const CODECS: readonly CompressionType[] = ['gzip', 'snappy', 'lz4', 'zstd']

/** Bytes that compress to little: what a batch of like records is. */
function repetitive(bytes: number): Buffer {
  return Buffer.alloc(bytes, 'the same again and again ')
}

/** Bytes that no codec makes shorter, the same ones in every run. */
function random(bytes: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(bytes / 64) }, (_, at) =>
    createHash('sha512').update(String(at)).digest(),
  )
  return Buffer.concat(blocks).subarray(0, bytes)
}

describe('compression', () => {
  before(prepareCompression)

  it('gives back what was compressed, from nothing to several blocks', () => {
    for (const codec of CODECS) {
      for (const size of [0, 1, 100, 32_768, 32_769, 70_000, 262_144, 1_048_577, 5_000_000]) {
        const bytes = repetitive(size)
        expect(decompress(codec, compress(codec, bytes)).equals(bytes), `${codec} ${String(size)}`).to.equal(true)
      }
    }
  })

  it('makes what cannot be compressed hardly longer, and gives it back', () => {
    for (const codec of CODECS) {
      for (const size of [1, 65_537, 300_000]) {
        const bytes = random(size)
        const compressed = compress(codec, bytes)
        expect(compressed.length, `${codec} ${String(size)}`).to.be.at.most(size + size / 128 + 64)
        expect(decompress(codec, compressed).equals(bytes), `${codec} ${String(size)}`).to.equal(true)
      }
    }
  })

  it('reads snappy without Java’s framing, as other clients send it', () => {
    const bytes = repetitive(50_000)

    expect(decompress('snappy', compressSync(bytes))).to.deep.equal(bytes)
  })

  it('stops at its bound instead of filling the memory', () => {
    for (const codec of CODECS) {
      const bomb = compress(codec, repetitive(5_000_000))
      expect(() => decompress(codec, bomb, 1_000_000), codec)
        .to.throw(MillraceError, 'beyond the bound')
        .with.property('code', 'PROTOCOL_VIOLATION')
    }
  })

  it('refuses what the codec did not write', () => {
    for (const codec of CODECS) {
      const whole = compress(codec, repetitive(10_000))
      for (const damaged of [
        Buffer.from('no such bytes at all'),
        Buffer.alloc(0),
        whole.subarray(0, whole.length / 2),
      ]) {
        expect(() => decompress(codec, damaged), `${codec} ${String(damaged.length)}`)
          .to.throw(MillraceError)
          .with.property('code', 'PROTOCOL_VIOLATION')
      }
    }
  })
})
