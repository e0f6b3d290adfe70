import { expect } from 'chai'
import { WrittenTotals } from '../../../../src/kafka/producer/written-totals.ts'

function of(totals: WrittenTotals): Record<string, readonly [records: number, bytes: number]> {
  return Object.fromEntries(Array.from(totals.byTopic, ([topic, { records, bytes }]) => [topic, [records, bytes]]))
}

describe('totals of what was written', () => {
  it('count a topic once its transaction is committed', () => {
    const totals = new WrittenTotals()
    totals.acknowledged('a', 2, 20)
    totals.acknowledged('b', 1, 10)
    totals.acknowledged('a', 3, 30)
    expect(of(totals)).to.deep.equal({ a: [0, 0], b: [0, 0] })
    expect(totals.pendingBatches).to.equal(3)

    totals.settle()
    totals.settle()
    expect(of(totals)).to.deep.equal({ a: [5, 50], b: [1, 10] })
    expect(totals.pendingBatches).to.equal(0)
  })

  it('never count what was aborted', () => {
    const totals = new WrittenTotals()
    totals.acknowledged('a', 2, 20)
    totals.forget()
    totals.acknowledged('a', 1, 10)
    totals.settle()
    expect(of(totals)).to.deep.equal({ a: [1, 10] })
  })
})
