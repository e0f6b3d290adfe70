import { expect } from 'chai'
import fc from 'fast-check'
import { murmur2, partitionForKey } from '../../src/model/murmur2.ts'

const WORD = 0xffff_ffffn
const MULTIPLIER = 0x5bd1e995n

/** The hash in plain arithmetic on 32-bit words, written from its definition. */
function plainMurmur2(bytes: Uint8Array): number {
  let hash = 0x9747b28cn ^ BigInt(bytes.length)
  let at = 0
  for (; bytes.length - at >= 4; at += 4) {
    let word = 0n
    for (let index = 3; index >= 0; index -= 1) word = (word << 8n) | BigInt(bytes[at + index] ?? 0)
    word = (word * MULTIPLIER) & WORD
    word = ((word ^ (word >> 24n)) * MULTIPLIER) & WORD
    hash = ((hash * MULTIPLIER) & WORD) ^ word
  }
  if (at < bytes.length) {
    let tail = 0n
    for (let index = bytes.length - 1; index >= at; index -= 1) tail = (tail << 8n) | BigInt(bytes[index] ?? 0)
    hash = ((hash ^ tail) * MULTIPLIER) & WORD
  }
  hash = ((hash ^ (hash >> 13n)) * MULTIPLIER) & WORD
  return Number(BigInt.asIntN(32, hash ^ (hash >> 15n)))
}

describe('murmur2', () => {
  it('is what its definition says for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), bytes => {
        expect(murmur2(bytes)).to.equal(plainMurmur2(bytes))
      }),
      { numRuns: 1_000 },
    )
  })

  it('puts a key into the same existing partition wherever its bytes lie', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 1, max: 1_000 }), (key, count) => {
        const partition = partitionForKey(key, count)
        expect(partition).to.be.within(0, count - 1)
        const elsewhere = Buffer.concat([Buffer.from('before'), key, Buffer.from('after')])
        expect(partitionForKey(elsewhere.subarray(6, 6 + key.length), count)).to.equal(partition)
      }),
    )
  })
})
