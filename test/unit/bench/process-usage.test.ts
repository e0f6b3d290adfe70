import { expect } from 'chai'
import { cpuSecondsOf, usageOf } from '../../../bench/process-usage.ts'

describe('what a process has used', () => {
  it('is read behind a name that holds anything', () => {
    const fields = Array.from({ length: 40 }, (_, at) => String([11, 12, 13, 14].includes(at) ? 100 + at : 9))
    expect(cpuSecondsOf(`4711 (a) (b c) ${fields.join(' ')}`)).to.equal(4.5)
  })

  it('grows with the work of this very process', () => {
    const before = usageOf(process.pid)
    const untilMs = performance.now() + 2_000
    while (performance.now() < untilMs && usageOf(process.pid).cpuSeconds < before.cpuSeconds + 0.02);
    expect(usageOf(process.pid).cpuSeconds).to.be.greaterThan(before.cpuSeconds)
    expect(before.peakBytes).to.be.greaterThan(2 ** 20)
  })

  it('cannot be told of a process that is not there', () => {
    expect(() => usageOf(2 ** 30)).to.throw('ENOENT')
  })
})
