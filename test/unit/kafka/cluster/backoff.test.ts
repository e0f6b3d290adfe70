import { expect } from 'chai'
import fc from 'fast-check'
import { Backoff } from '../../../../src/kafka/cluster/backoff.ts'

describe('Backoff', () => {
  it('doubles up to its maximum, and begins again after a reset', () => {
    const backoff = new Backoff(100, 1_000, () => 0.5)
    const delays = Array.from({ length: 6 }, () => backoff.next())
    expect(delays).to.deep.equal([100, 200, 400, 800, 1_000, 1_000])
    backoff.reset()
    expect(backoff.next()).to.equal(100)
  })

  it('spreads each delay by a fifth at most', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), chance => {
        const delay = new Backoff(100, 1_000, () => chance).next()
        expect(delay).to.be.within(80, 120)
      }),
    )
  })
})
