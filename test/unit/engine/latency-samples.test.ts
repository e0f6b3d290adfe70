import { expect } from 'chai'
import { LatencySamples } from '../../../src/engine/latency-samples.ts'

function observed(samples: LatencySamples): { readonly count: number; readonly sumSeconds: number } {
  const { counts, sumSeconds } = samples.snapshot()
  return { count: counts.reduce((sum, count) => sum + count), sumSeconds }
}

describe('latency samples', () => {
  it('are taken when the commit of their records is acknowledged, not before', () => {
    const samples = new LatencySamples()
    samples.processed(1_000)
    samples.processed(2_000)
    expect(observed(samples)).to.deep.equal({ count: 0, sumSeconds: 0 })
    samples.committed(3_000)
    samples.committed(9_000)
    expect(observed(samples)).to.deep.equal({ count: 2, sumSeconds: 3 })
  })

  it('are forgotten with an abort: the records will be processed again', () => {
    const samples = new LatencySamples()
    samples.processed(1_000)
    samples.forgotten()
    samples.committed(3_000)
    expect(observed(samples).count).to.equal(0)
  })

  it('are bounded between two commits', () => {
    const samples = new LatencySamples()
    for (let record = 0; record < 10_000; record += 1) samples.processed(record)
    samples.committed(10_000)
    expect(observed(samples).count).to.equal(4_096)
  })
})
