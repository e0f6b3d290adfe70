import { expect } from 'chai'
import { AgeHistogram } from '../../../src/engine/histograms.ts'
import { ThreadMetrics } from '../../../src/engine/thread-metrics.ts'
import { SILENT_LOGGER } from '../../../src/model/logger.ts'

function countersOf(topic: string, records: number, ...latenessMs: readonly number[]) {
  const lateness = new AgeHistogram()
  for (const ms of latenessMs) lateness.observe(ms)
  return { consumed: [{ topic, records }], lateness }
}

describe('metrics of a thread', () => {
  it('never go back when a task is closed and when it comes again', () => {
    const metrics = new ThreadMetrics(SILENT_LOGGER)
    metrics.taken('in', 100)
    metrics.retired(countersOf('in', 10, 1_000))
    metrics.taken('in', 50)

    const again = [countersOf('in', 5, 2_000, 3_000)]
    expect([...metrics.consumption(again)]).to.deep.equal([['in', { records: 15, bytes: 150 }]])
    expect(metrics.lateness(again).sumSeconds).to.equal(6)
    expect([...metrics.consumption([])]).to.deep.equal([['in', { records: 10, bytes: 150 }]])
  })

  it('take the time between two turns, and none while the loop works', () => {
    const metrics = new ThreadMetrics(SILENT_LOGGER)
    metrics.turnedAt(1_000)
    metrics.waits(1_200)
    metrics.turnedAt(1_700)
    // A turn that failed did not come to its end.
    metrics.turnedAt(9_000)
    expect(metrics.counters(9_000).pollSeconds.sumSeconds).to.equal(0.5)
  })

  it('take the time of a punctuation that fails too', () => {
    const metrics = new ThreadMetrics(SILENT_LOGGER)
    const times = [1_000, 3_000]
    const stepping = { nowMs: () => times.shift() ?? 0 }
    expect(() => {
      metrics.punctuate(() => {
        throw new RangeError('no')
      }, stepping)
    }).to.throw(RangeError)
    expect(metrics.counters(0).punctuateSeconds.sumSeconds).to.equal(2)
  })
})
