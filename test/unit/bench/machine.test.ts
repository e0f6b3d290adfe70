import { expect } from 'chai'
import { cpus } from 'node:os'
import { busyProcessors, busySecondsOf } from '../../../bench/machine.ts'

describe('what a machine does beside', () => {
  it('is all but waiting, and counts no guest twice', () => {
    // user nice system idle iowait irq softirq steal guest guest_nice
    const stat = 'cpu  100 200 300 90000 8000 10 20 30 100 7\ncpu0 1 1 1 1 1 1 1 1 1 1\n'
    expect(busySecondsOf(stat)).to.equal(6.6)
  })

  it('does not include this very process', async function () {
    this.timeout(20_000)
    let isWatching = true
    const work = (): void => {
      const untilMs = performance.now() + 20
      while (performance.now() < untilMs);
      if (isWatching) setImmediate(work)
    }
    work()
    const before = process.cpuUsage()
    const startMs = performance.now()
    const busy = await busyProcessors()
    isWatching = false
    const seconds = (performance.now() - startMs) / 1_000
    const { user, system } = process.cpuUsage(before)
    const own = (user + system) / 1e6 / seconds
    expect(busy).to.be.at.least(0)
    expect(busy + own, 'together they cannot do more than there is').to.be.at.most(cpus().length + 0.2)
  })
})
