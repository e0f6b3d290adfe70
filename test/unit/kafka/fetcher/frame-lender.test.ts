import { expect } from 'chai'
import { FrameLender } from '../../../../src/kafka/fetcher/frame-lender.ts'

const LARGE = 100_000

/** Receives an answer of so many bytes. */
function received(
  lender: FrameLender,
  bytes: number,
): { memory: ArrayBufferLike; loan: { release(): void; hold(): void } } {
  const frame = lender.take(bytes)
  const loan = lender.lend()
  if (frame === undefined || loan === undefined) throw new Error('nothing was lent')
  expect(frame).to.have.lengthOf(bytes)
  return { memory: frame.buffer, loan }
}

describe('the lender of frames', () => {
  it('lends the memory of an answer again once its last holder has released it', () => {
    const lender = new FrameLender()
    const first = received(lender, LARGE)
    first.loan.hold()
    first.loan.release()
    const second = received(lender, LARGE)
    expect(second.memory).not.to.equal(first.memory)

    first.loan.release()
    expect(received(lender, LARGE + 1).memory).to.equal(first.memory)
  })

  it('never lends again what a holder has kept', () => {
    const lender = new FrameLender()
    const kept = received(lender, LARGE)
    for (let round = 0; round < 5; round += 1) {
      const next = received(lender, LARGE)
      expect(next.memory).not.to.equal(kept.memory)
      next.loan.release()
    }
  })

  it('lends nothing for a small answer, whose buffer is cheaper made anew', () => {
    const lender = new FrameLender()
    expect(lender.take(1_000)).to.equal(undefined)
    expect(lender.lend()).to.equal(undefined)
  })

  it('forgets an answer that was begun and never came', () => {
    const lender = new FrameLender()
    lender.take(LARGE)
    expect(lender.take(1_000)).to.equal(undefined)
    expect(lender.lend()).to.equal(undefined)
  })

  it('keeps a few frames at most', () => {
    const lender = new FrameLender()
    const many = Array.from({ length: 8 }, () => received(lender, LARGE))
    for (const { loan } of many) loan.release()
    const again = Array.from({ length: 8 }, () => received(lender, LARGE).memory)
    const known = new Set(many.map(({ memory }) => memory))
    expect(again.filter(memory => known.has(memory))).to.have.lengthOf(3)
  })
})
