import { expect } from 'chai'
import fc from 'fast-check'
import { varintBytes, VarintReader, varlongBytes, writeVarint, writeVarlong } from '../../src/kafka/records/varint.ts'
import { zigzagVarint } from '../support/reference-batches.ts'

/** Integers at and around the borders where another byte begins, as well as anywhere. */
const anyInteger = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer(),
  fc.integer({ min: -200, max: 200 }),
  fc
    .tuple(fc.nat(52), fc.integer({ min: -2, max: 2 }), fc.constantFrom(1, -1))
    .map(([bits, near, sign]) => sign * (2 ** bits + near)),
)

describe('varints', () => {
  it('of numbers up to ±(2^53−1) have the bytes of plain 64-bit arithmetic, and are read back', () => {
    fc.assert(
      fc.property(anyInteger, value => {
        const expected = zigzagVarint(BigInt(value))
        const written = Buffer.alloc(12)
        expect(writeVarlong(written, 1, value)).to.equal(1 + expected.length)
        expect(varlongBytes(value)).to.equal(expected.length)
        expect(written.subarray(1, 1 + expected.length)).to.deep.equal(expected)
        expect(new VarintReader(written, 1).varlong()).to.equal(value)
      }),
      { numRuns: 2_000 },
    )
  })

  it('of 32-bit integers agree with the long form', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.integer({ min: -9_000, max: 9_000 })), value => {
        const expected = zigzagVarint(BigInt(value))
        const written = Buffer.alloc(5)
        expect(writeVarint(written, 0, value)).to.equal(expected.length)
        expect(varintBytes(value)).to.equal(expected.length)
        expect(written.subarray(0, expected.length)).to.deep.equal(expected)
        expect(new VarintReader(written).varint()).to.equal(value)
      }),
      { numRuns: 2_000 },
    )
  })

  it('are never read beyond their bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), bytes => {
        for (const read of ['varint', 'varlong'] as const) {
          const reader = new VarintReader(bytes)
          const value = reader[read]()
          expect(reader.position).to.be.at.most(bytes.length)
          if (value !== undefined) expect(bytes[reader.position - 1]).to.be.below(0x80)
        }
      }),
    )
  })
})
