import { expect } from 'chai'
import { TransactionSize } from '../../../src/engine/transaction-size.ts'

const COMMIT_MS_MAX = 1_000
const QUICK_MS = 10
const SLOW_MS = 600

describe('the size of a transaction', () => {
  it('has no bound while commits are in time, however slow', () => {
    const size = new TransactionSize(COMMIT_MS_MAX)
    size.committed(100_000, SLOW_MS)
    expect(size.recordsMax).to.equal(Number.POSITIVE_INFINITY)
  })

  it('is halved each time that one runs out of time, down to one record', () => {
    const size = new TransactionSize(COMMIT_MS_MAX)
    const seen: number[] = []
    for (let records = 120; ; records = size.recordsMax) {
      size.timedOut(records)
      seen.push(size.recordsMax)
      if (records === 1) break
    }
    expect(seen).to.deep.equal([60, 30, 15, 7, 3, 1, 1])
  })

  it('is halved once for one transaction, however often its abort is tried', () => {
    const size = new TransactionSize(COMMIT_MS_MAX)
    size.timedOut(120)
    size.timedOut(120)
    expect(size.recordsMax).to.equal(60)
  })

  it('keeps a bound that was not the reason: nothing was processed', () => {
    const size = new TransactionSize(COMMIT_MS_MAX)
    size.timedOut(0)
    expect(size.recordsMax).to.equal(Number.POSITIVE_INFINITY)
  })

  it('stays where full transactions are in time but not quick: twice as large they would not be', () => {
    const size = new TransactionSize(COMMIT_MS_MAX)
    size.timedOut(120)
    size.committed(60, SLOW_MS)
    expect(size.recordsMax).to.equal(60)
  })

  it('stays where transactions are quick because they are small', () => {
    const size = new TransactionSize(COMMIT_MS_MAX)
    size.timedOut(120)
    size.committed(59, QUICK_MS)
    expect(size.recordsMax).to.equal(60)
  })

  it('doubles with each full one that is quick, until there is no bound any more', () => {
    const size = new TransactionSize(COMMIT_MS_MAX)
    size.timedOut(2)
    let commits = 0
    while (size.recordsMax !== Number.POSITIVE_INFINITY) {
      size.committed(size.recordsMax, QUICK_MS)
      commits += 1
    }
    expect(commits).to.equal(17)
  })
})
