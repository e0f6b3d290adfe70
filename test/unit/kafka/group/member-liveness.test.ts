import { expect } from 'chai'
import { MemberLiveness } from '../../../../src/kafka/group/member-liveness.ts'
import { BlockableClock } from './scripted-coordinator.ts'

describe('member liveness', () => {
  it('ends a session counted from when the last accepted request was sent', () => {
    const clock = new BlockableClock()
    const liveness = new MemberLiveness(clock, 1_000, 5_000)
    const sentAtMs = clock.nowMs()
    clock.block(600)
    liveness.heard(sentAtMs)
    clock.block(399)
    expect(liveness.sessionExpired).to.equal(false)
    clock.block(1)
    expect(liveness.sessionExpired).to.equal(true)
  })

  it('does not go back for an answer that was overtaken', () => {
    const clock = new BlockableClock()
    const liveness = new MemberLiveness(clock, 1_000, 5_000)
    const earlyMs = clock.nowMs()
    clock.block(900)
    liveness.heard(clock.nowMs())
    liveness.heard(earlyMs)
    clock.block(900)
    expect(liveness.sessionExpired).to.equal(false)
  })

  it('allows exactly max.poll.interval.ms between two turns', () => {
    const clock = new BlockableClock()
    const liveness = new MemberLiveness(clock, 1_000, 5_000)
    clock.block(5_000)
    expect(liveness.pollExpired).to.equal(false)
    clock.block(1)
    expect(liveness.pollExpired).to.equal(true)
    liveness.polled()
    expect(liveness.pollExpired).to.equal(false)
  })
})
