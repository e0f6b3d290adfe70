import { expect } from 'chai'
import { regressionsOf } from '../../../bench/regression.ts'
import type { BenchResult, Ratios } from '../../../bench/result.ts'
import { aResult } from './result-builder.ts'

function withRatios(ratios: Readonly<Record<string, Ratios>>): BenchResult {
  return { ...aResult([]), ratios }
}

describe('regressions', () => {
  const reference = withRatios({ copy: { throughput: 6, cpu: 0.06, memory: 0.4, latencyP99: 0.9 } })

  it('are named when a throughput has lost more than a third', () => {
    expect(regressionsOf(reference, withRatios({ copy: { throughput: 3.9 } }))).to.deep.equal([
      'regression: copy, throughput: 3.90 times Kafka Streams, 6.00 in the result of 2026-01-31',
    ])
  })

  it('are named when a cost has grown so that it would take a third off to be back', () => {
    const lines = regressionsOf(reference, withRatios({ copy: { cpu: 0.0901, memory: 0.61, latencyP99: 1.36 } }))
    expect(lines.map(line => line.split(', ')[1]?.split(':')[0])).to.deep.equal([
      'processor time per record',
      'memory',
      'latency p99',
    ])
  })

  it('are not named for less than that, nor for what got better', () => {
    const little = withRatios({ copy: { throughput: 4.1, cpu: 0.089, memory: 0.59, latencyP99: 1.3 } })
    const better = withRatios({ copy: { throughput: 60, cpu: 0.006, memory: 0.04, latencyP99: 0.09 } })
    expect([...regressionsOf(reference, little), ...regressionsOf(reference, better)]).to.deep.equal([])
  })

  it('are not looked for where one of the two has nothing to compare', () => {
    expect(regressionsOf(reference, withRatios({ count: { throughput: 0.1 } }))).to.deep.equal([])
    expect(regressionsOf(withRatios({ copy: {} }), withRatios({ copy: { throughput: 0.1 } }))).to.deep.equal([])
  })
})
