import { expect } from 'chai'
import { retryPauseMs } from '../../../../src/kafka/producer/retry-pause.ts'

describe('retry pause', () => {
  it('waits 1 ms at first, because markers are written within a few', () => {
    expect([1, 2, 3, 4].map(retryPauseMs)).to.deep.equal([1, 1, 1, 1])
  })

  it('doubles then, up to 100 ms for ever', () => {
    expect([5, 6, 7, 8, 9, 10, 11, 12, 1_000].map(retryPauseMs)).to.deep.equal([2, 4, 8, 16, 32, 64, 100, 100, 100])
  })
})
