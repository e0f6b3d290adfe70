import { expect } from 'chai'
import { AGE_BUCKETS_SECONDS, AgeHistogram } from '../../../src/engine/histograms.ts'

function bucketsOf(...ages: readonly number[]): readonly number[] {
  const histogram = new AgeHistogram()
  for (const age of ages) histogram.observe(age)
  return histogram.snapshot().counts.flatMap((count, bucket) => Array.from({ length: count }, () => bucket))
}

describe('a histogram of ages', () => {
  it('puts every age into the first bucket whose bound it does not pass', () => {
    for (const [bucket, bound] of AGE_BUCKETS_SECONDS.entries()) {
      const ms = bound * 1_000
      expect(bucketsOf(ms), `${String(ms)} ms`).to.deep.equal([bucket])
      expect(bucketsOf(ms + 1), `${String(ms + 1)} ms`).to.deep.equal([bucket + 1])
    }
  })

  it('counts what lies in the future as no age, and what is very old in the open bucket', () => {
    expect(bucketsOf(-5, 0, Number.MAX_SAFE_INTEGER)).to.deep.equal([0, 0, AGE_BUCKETS_SECONDS.length])
  })

  it('adds up with others, sums too', () => {
    const [one, other] = [new AgeHistogram(), new AgeHistogram()]
    one.observe(500)
    other.observe(1_500)
    other.observe(-1)
    one.add(other)
    expect(one.snapshot().sumSeconds).to.equal(2)
    expect(one.snapshot().counts.reduce((sum, count) => sum + count)).to.equal(3)
  })
})
