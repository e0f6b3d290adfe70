import { expect } from 'chai'
import { LastCounter } from '../../../bench/output-check.ts'

function countsOf(...results: readonly (readonly [key: string, count: number])[]): number {
  const counter = new LastCounter()
  for (const [key, count] of results) {
    const value = Buffer.alloc(8)
    value.writeBigInt64BE(BigInt(count))
    counter.add({ key: Buffer.from(key), value })
  }
  return counter.sum
}

describe('counts per key', () => {
  it('add up to the records they stand for, whether or not each of them was seen', () => {
    expect(countsOf(['a', 1], ['a', 2], ['b', 1], ['a', 3])).to.equal(4)
    expect(countsOf(['b', 1], ['a', 3])).to.equal(4)
  })

  it('tell of a record that was counted twice, or not at all', () => {
    expect(countsOf(['a', 1], ['a', 3], ['b', 1])).to.equal(4)
    expect(countsOf(['a', 1], ['b', 1])).to.equal(2)
  })
})
