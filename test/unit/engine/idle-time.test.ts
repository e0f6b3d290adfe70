import { expect } from 'chai'
import { CommitSchedule } from '../../../src/engine/commit-schedule.ts'
import { idleTimeMs, type IdleWork } from '../../../src/engine/idle-time.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const NEVER = Number.POSITIVE_INFINITY

/** A thread whose last commit, of an interval of 100 ms, ended just now and took as long as a whole interval. */
class IdleBench {
  readonly clock = new ManualClock()
  readonly schedule = new CommitSchedule({ intervalMs: 100, ageMaxMs: 5_000, bytesMax: 1_000 }, 0)
  punctuationMs = NEVER
  idleUntilMs = NEVER

  constructor() {
    this.schedule.committed(this.clock.nowMs() - 100, this.clock.nowMs())
  }

  ms(work: Partial<IdleWork> = {}): number {
    const tasks = { nextPunctuationMs: () => this.punctuationMs, idleUntilMs: () => this.idleUntilMs }
    const nothing = { isUncommitted: false, isIdle: true, mayProcess: true }
    return idleTimeMs({ clock: this.clock, schedule: this.schedule, tasks }, { ...nothing, ...work })
  }
}

describe('the time of an idle turn', () => {
  it('ends half a second later when nothing comes due', () => {
    expect(new IdleBench().ms()).to.equal(500)
  })

  it('ends with the early commit of a thread that has read everything', () => {
    expect(new IdleBench().ms({ isUncommitted: true })).to.equal(50)
  })

  it('goes on past the early commit while records are known that cannot be had: the loop would spin until the interval ends', async () => {
    const bench = new IdleBench()
    await bench.clock.advance(60)
    expect(bench.ms({ isUncommitted: true, isIdle: true })).to.equal(0)
    expect(bench.ms({ isUncommitted: true, isIdle: false })).to.equal(40)
  })

  it('ends with the next punctuation, and with the wait for an empty input', () => {
    const bench = new IdleBench()
    bench.punctuationMs = bench.clock.wallClockMs() + 30
    expect(bench.ms()).to.equal(30)
    bench.idleUntilMs = bench.clock.nowMs() + 20
    expect(bench.ms()).to.equal(20)
  })

  it('does not wait for a punctuation that nobody would call, of a paused thread or beside a table that is read anew', () => {
    const bench = new IdleBench()
    bench.punctuationMs = bench.clock.wallClockMs() - 1
    expect(bench.ms({ mayProcess: true })).to.equal(0)
    expect(bench.ms({ mayProcess: false })).to.equal(500)
  })

  it('is no less than nothing', () => {
    const bench = new IdleBench()
    bench.idleUntilMs = bench.clock.nowMs() - 1
    expect(bench.ms()).to.equal(0)
  })
})
