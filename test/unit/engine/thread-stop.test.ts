import { expect } from 'chai'
import { ThreadStop } from '../../../src/engine/thread-stop.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const STOP = { leaveGroup: true, timeoutMs: 10_000 }

describe('the stop of a thread', () => {
  let clock: ManualClock
  let closes: number
  let stop: ThreadStop

  beforeEach(() => {
    clock = new ManualClock()
    closes = 0
    stop = new ThreadStop({
      clock,
      logger: SILENT_LOGGER,
      stepTimeoutMs: 30_000,
      cluster: {
        close: () => {
          closes += 1
          return Promise.resolve()
        },
      },
    })
  })

  it('bounds nothing before it is asked for', async () => {
    await clock.advance(100_000)
    expect(stop).to.include({ requested: false, isCutOff: false, leftMs: Number.POSITIVE_INFINITY })
    expect(stop.stepTimeoutMs()).to.equal(30_000)
  })

  it('gives the turn under way half of the time, whatever its steps were given before', async () => {
    stop.ask(STOP)
    expect(stop.stepTimeoutMs()).to.equal(5_000)
    await clock.advance(4_999)
    expect([closes, stop.stepTimeoutMs()]).to.deep.equal([0, 1])
    await clock.advance(1)
    expect([closes, stop.isCutOff, stop.leftMs]).to.deep.equal([1, true, 5_000])
  })

  it('cuts nothing off when the turn has ended in time', async () => {
    stop.ask(STOP)
    stop.loopEnded()
    await clock.advance(20_000)
    expect([closes, clock.timers]).to.deep.equal([0, 0])
  })

  it('gives the steps that follow what they are allowed together', async () => {
    stop.ask(STOP)
    stop.loopEnded()
    stop.allow(6_000)
    await clock.advance(2_000)
    expect(stop.stepTimeoutMs()).to.equal(4_000)
    stop.allow(60_000)
    expect(stop.stepTimeoutMs(), 'never more than a step may take at all').to.equal(30_000)
  })

  it('counts from the first time it is asked for', async () => {
    stop.ask(STOP)
    await clock.advance(3_000)
    stop.ask({ leaveGroup: false, timeoutMs: 60_000 })
    expect([stop.leftMs, stop.asked]).to.deep.equal([7_000, STOP])
  })
})
