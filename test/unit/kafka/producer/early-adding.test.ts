import { expect } from 'chai'
import { EarlyAdding } from '../../../../src/kafka/producer/early-adding.ts'

/** Of so many milliseconds, those at which partitions may be added. */
function allowed(adding: EarlyAdding, untilMs: number): number[] {
  return Array.from({ length: untilMs }, (_, nowMs) => nowMs).filter(nowMs => adding.allows(nowMs))
}

describe('early adding', () => {
  it('adds what is written first at once, and later ones ever more rarely', () => {
    expect(allowed(new EarlyAdding(), 100)).to.deep.equal([0, 2, 6, 14, 30, 62])
  })

  it('allows all partitions of one moment', () => {
    const adding = new EarlyAdding()
    expect([adding.allows(5), adding.allows(5), adding.allows(6)]).to.deep.equal([true, true, false])
  })

  it('lets the markers of the transaction before be written', () => {
    const adding = new EarlyAdding()
    adding.allows(0)
    adding.restart(10)
    expect([adding.allows(10), adding.allows(12), adding.allows(13)]).to.deep.equal([false, false, true])
  })
})
