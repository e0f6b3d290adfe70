import { expect } from 'chai'
import { offsetsPartition } from '../../../../src/cli/txn/searched-partitions.ts'

describe('the partition of the offsets of a group', () => {
  it("is that of Java's hash of its name", () => {
    // "abc".hashCode() is 96354; that of "polygenelubricants" is the smallest number of all.
    expect(offsetsPartition('abc', 50)).to.equal(96_354 % 50)
    expect(offsetsPartition('polygenelubricants', 50)).to.equal(0)
    expect(offsetsPartition('order-totals', 50)).to.equal(javaHash('order-totals') % 50)
  })
})

/** By the definition: s[0]·31^(n−1) + …, modulo 2^32, its amount. */
function javaHash(text: string): number {
  const hash = Array.from(text).reduce((sum, letter) => sum * 31n + BigInt(letter.codePointAt(0) ?? 0), 0n)
  return Math.abs(Number(BigInt.asIntN(32, hash)))
}
