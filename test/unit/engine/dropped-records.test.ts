import { expect } from 'chai'
import { DroppedRecords } from '../../../src/engine/dropped-records.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'
import { ManualClock } from '../../support/manual-clock.ts'

class Bench {
  readonly clock = new ManualClock()
  readonly lines: object[] = []
  readonly dropped = new DroppedRecords({ ...SILENT_LOGGER, warn: fields => void this.lines.push(fields) })
  /** As a task has it: one object, overwritten for every record. */
  readonly #at = { topic: 'in', partition: 3, offset: 0 }

  drop(count: number): void {
    for (let record = 0; record < count; record += 1) {
      this.dropped.add('late', 1, this.#at)
      this.#at.offset += 1
    }
    this.#at.offset += 100
  }

  /** Turns of the loop, as often as an idle one makes them. */
  async turnFor(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      await this.clock.advance(500)
      this.dropped.tellIfDue(this.clock.nowMs())
    }
  }
}

describe('the log of dropped records (case 62)', () => {
  it('tells of the first ones at once, with the place of the last', async () => {
    const bench = new Bench()
    bench.drop(3)
    await bench.turnFor(500)
    expect(bench.lines).to.deep.equal([{ reason: 'late', records: 3, topic: 'in', partition: 3, offset: 2 }])
  })

  it('tells of all that follow once a minute, however many they are', async () => {
    const bench = new Bench()
    bench.drop(1)
    await bench.turnFor(500)
    for (let second = 0; second < 60; second += 1) {
      bench.drop(1_000)
      await bench.turnFor(500)
    }
    expect(bench.lines).to.have.length(1)
    await bench.turnFor(30_500)
    expect(bench.lines.slice(1)).to.deep.include.members([
      { reason: 'late', records: 60_000, topic: 'in', partition: 3, offset: 66_000 },
    ])
    await bench.turnFor(300_000)
    expect(bench.lines).to.have.length(2)
  })

  it('has a line for each reason', async () => {
    const bench = new Bench()
    bench.drop(1)
    bench.dropped.add('nullKey', 2, undefined)
    await bench.turnFor(500)
    expect(bench.lines).to.deep.equal([
      { reason: 'late', records: 1, topic: 'in', partition: 3, offset: 0 },
      { reason: 'nullKey', records: 2 },
    ])
  })

  it('leaves out what has a line for every record', async () => {
    const bench = new Bench()
    for (const reason of ['skipped', 'deadLettered', 'undelivered'] as const) bench.dropped.add(reason, 1, undefined)
    await bench.turnFor(60_000)
    expect(bench.lines).to.deep.equal([])
  })

  it('tells what is left when the thread ends', async () => {
    const bench = new Bench()
    bench.drop(1)
    await bench.turnFor(500)
    bench.drop(1)
    bench.dropped.tell(bench.clock.nowMs())
    bench.dropped.tell(bench.clock.nowMs())
    expect(bench.lines).to.have.length(2)
  })
})
