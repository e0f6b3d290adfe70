import { expect } from 'chai'
import { InputPace } from '../../../../src/cli/demo/input-pace.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const BATCH = 60

/** Writes transactions of `BATCH` records for as long as it may; returns how many records are written then. */
function writeAll(pace: InputPace, written: number): number {
  let now = written
  while (pace.mayWrite(now)) now += BATCH
  return now
}

describe('pace of the input of the demo', () => {
  it('gives every life something to read, however many there are and whatever the lives before were given', async () => {
    const clock = new ManualClock()
    const pace = new InputPace(clock, 4_000, 3)
    let written = 0
    for (let life = 1; life <= 10; life += 1) {
      pace.nextLife()
      const before = written
      written = writeAll(pace, written)
      expect(written, `life ${String(life)}`).to.be.greaterThan(before)
      pace.atWork()
      await clock.advance(2_000)
      written = writeAll(pace, written)
    }
    expect(written, 'and still holds some back').to.be.lessThan(4_000)
  })

  it('gives a planned life a part of its input at the start, the rest while it is at work, and no more', async () => {
    const clock = new ManualClock()
    const pace = new InputPace(clock, 4_000, 3)
    pace.nextLife()
    const atStart = writeAll(pace, 0)
    expect(atStart).to.be.within(BATCH, 500)
    await clock.advance(60_000)
    expect(writeAll(pace, atStart)).to.equal(atStart)
    pace.atWork()
    await clock.advance(1_800)
    const part = writeAll(pace, atStart)
    expect(part).to.be.within(1_100, 1_133 + BATCH)
    await clock.advance(60_000)
    expect(writeAll(pace, part)).to.equal(part)
  })

  it('gives all once no kill is left', () => {
    const pace = new InputPace(new ManualClock(), 4_000, 3)
    pace.nextLife()
    pace.release()
    expect(pace.mayWrite(3_990)).to.equal(true)
  })
})
