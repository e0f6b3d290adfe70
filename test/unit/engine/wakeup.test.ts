import { expect } from 'chai'
import { Wakeup } from '../../../src/engine/wakeup.ts'
import { ManualClock, settle } from '../../support/manual-clock.ts'

async function isOver(waiting: Promise<void>): Promise<boolean> {
  return Promise.race([waiting.then(() => true), settle().then(() => false)])
}

describe('wakeup', () => {
  it('waits until the time is up', async () => {
    const clock = new ManualClock()
    const waiting = new Wakeup(clock).wait(100)
    await clock.advance(99)
    expect(await isOver(waiting)).to.equal(false)
    await clock.advance(1)

    expect([await isOver(waiting), clock.timers]).to.deep.equal([true, 0])
  })

  it('wakes at once when it is signalled, and leaves no timer', async () => {
    const clock = new ManualClock()
    const wakeup = new Wakeup(clock)
    const waiting = wakeup.wait(100)
    wakeup.signal()
    wakeup.signal()
    await waiting

    expect(clock.timers).to.equal(0)
  })

  it('keeps a signal that was given while nobody waited, once', async () => {
    const clock = new ManualClock()
    const wakeup = new Wakeup(clock)
    wakeup.signal()
    wakeup.signal()
    await wakeup.wait(100)
    const waiting = wakeup.wait(100)

    expect(await isOver(waiting)).to.equal(false)
    await clock.advance(100)
    expect(await isOver(waiting)).to.equal(true)
  })
})
