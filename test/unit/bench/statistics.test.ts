import { expect } from 'chai'
import fc from 'fast-check'
import { aboveLine, median, ratioOf, spreadOf } from '../../../bench/statistics.ts'

describe('statistics of a benchmark', () => {
  it('take the middle one of an odd count', () => {
    expect(median([30, 10, 20])).to.equal(20)
  })

  it('take what lies between the two middle ones of an even count', () => {
    expect(median([40, 10, 20, 30])).to.equal(25)
  })

  it('have no middle of nothing', () => {
    expect(median([])).to.be.NaN
  })

  it('sort by value, not by text, and leave the list as it is', () => {
    const numbers = [9, 100, 20]
    expect(median(numbers)).to.equal(20)
    expect(numbers).to.deep.equal([9, 100, 20])
  })

  it('find the middle between the ends, whatever the order', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, min: 1, max: 1e6 }), { minLength: 1 }), numbers => {
        const spread = spreadOf(numbers)
        expect(spread.low).to.be.at.most(spread.median)
        expect(spread.high).to.be.at.least(spread.median)
        expect(spreadOf(numbers.toReversed())).to.deep.equal(spread)
      }),
    )
  })

  it('divide medians, and show the worst and the best round beside', () => {
    expect(ratioOf([60, 90, 80], [10, 30, 20])).to.deep.equal({ median: 4, low: 3, high: 6 })
  })

  it('compare only rounds that both have', () => {
    expect(ratioOf([60, 1_000], [10])).to.deep.equal({ median: 53, low: 6, high: 6 })
  })

  it('find points of a line on it, however far they lie apart', () => {
    const points = [10, 100, 1_000, 100_000].map(x => ({ x, y: 0.5 + 0.003 * x }))
    for (const ratio of aboveLine(points)) expect(ratio).to.be.closeTo(1, 1e-9)
  })

  it('find a point that is too high among small ones beside large ones', () => {
    const points = [10, 100, 1_000, 100_000].map(x => ({ x, y: 0.5 + 0.003 * x }))
    const [first, second, ...others] = aboveLine(points.with(1, { x: 100, y: 1.6 }))
    expect(second).to.be.greaterThan(1.3)
    for (const ratio of [first, ...others]) expect(ratio).to.be.lessThan(1.1)
  })
})
