import { expect } from 'chai'
import { type Sample, steadyPace, wholePace } from '../../../bench/progress.ts'

function at(atMs: number, done: number, clientCpuSeconds = 0, brokerCpuSeconds = 0): Sample {
  return { atMs, done, clientCpuSeconds, brokerCpuSeconds }
}

describe('the pace of a contender', () => {
  it('counts from the start of the process to the last visible result', () => {
    const samples = [at(0, 0, 0, 5), at(900, 100, 0.5, 6), at(1_000, 1_000, 1, 7)]
    expect(wholePace(samples)).to.deep.equal({
      recordsPerSecond: 1_000,
      clientCpuMicros: 1_000,
      brokerCpuMicros: 2_000,
    })
  })

  it('is steady from the commit that has half of the records to the last one but one', () => {
    const samples = [at(0, 0), at(500, 100), at(600, 500, 1), at(700, 700, 1.1), at(800, 900, 1.2), at(900, 1_000, 9)]
    const { recordsPerSecond, clientCpuMicros } = steadyPace(samples)
    expect(recordsPerSecond).to.equal(2_000)
    expect(clientCpuMicros).to.be.closeTo(500, 1e-6)
  })

  it('goes to the end when the commit before it is too close to the half', () => {
    expect(steadyPace([at(0, 0), at(100, 500), at(200, 600), at(400, 1_000)]).recordsPerSecond).to.be.closeTo(1_666, 1)
  })

  it('is not a number when all was done in one commit', () => {
    expect(steadyPace([at(0, 0), at(100, 1_000)]).recordsPerSecond).to.be.NaN
  })
})
