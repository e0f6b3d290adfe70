import { expect } from 'chai'
import { type Goal, goalsOf, holds } from '../../../bench/goals.ts'
import type { BenchResult } from '../../../bench/result.ts'
import { aLatencyScenario, aResult, aScenario } from './result-builder.ts'

function goal(result: BenchResult, measure: string): Goal {
  const found = goalsOf(result).find(each => each.measure === measure)
  if (found === undefined) throw new Error(`there is no goal ${measure}`)
  return found
}

function latencyOf(ours: number): BenchResult {
  return aResult([], [aLatencyScenario('copy-10ms', { millrace: [ours], streams: [100] })])
}

/** Copies of three sizes, of which two lie on a line. @param middle - cost of the third, 3.5 on that line */
function copyCosts(middle: number): BenchResult {
  const costs = [0.53, middle, 300.5]
  const scenarios = [10, 1_000, 100_000].map((valueBytes, at) =>
    aScenario(
      { id: `copy-${String(valueBytes)}-bytes`, suite: 'growth', valueBytes },
      { millrace: [{ rate: 10, cpu: costs[at] ?? 0 }] },
    ),
  )
  return aResult(scenarios)
}

describe('goals', () => {
  it('say nothing of what was not measured', () => {
    expect(goalsOf(aResult([])).map(holds)).to.deep.equal(goalsOf(aResult([])).map(() => undefined))
  })

  it('compare defaults with defaults, and tuned with tuned', () => {
    const copy = aScenario(
      { id: 'copy' },
      {
        millrace: [{ rate: 60 }],
        streams: [{ rate: 10 }],
        'millrace-tuned': [{ rate: 80 }],
        'streams-tuned': [{ rate: 20 }],
      },
    )
    const result = aResult([copy])
    expect(goal(result, 'copy, defaults ÷ defaults').reached?.median).to.equal(6)
    expect(holds(goal(result, 'copy, defaults ÷ defaults'))).to.equal(true)
    expect(goal(result, 'copy, tuned ÷ tuned').reached?.median).to.equal(4)
    expect(holds(goal(result, 'copy, tuned ÷ tuned'))).to.equal(false)
  })

  it('take the faster settings of each side where that is asked for', () => {
    const count = aScenario(
      { id: 'count', workload: 'count' },
      {
        millrace: [{ rate: 60 }],
        'millrace-tuned': [{ rate: 50 }],
        streams: [{ rate: 10 }],
        'streams-tuned': [{ rate: 20 }],
      },
    )
    expect(goal(aResult([count]), 'count per key, better ÷ better').reached?.median).to.equal(3)
  })

  it('compare exactly once with at least once in the same turns', () => {
    const copy = aScenario(
      { id: 'copy' },
      {
        millrace: [{ rate: 80 }, { rate: 90 }, { rate: 100 }],
        'millrace-at-least-once': [{ rate: 100 }, { rate: 100 }, { rate: 100 }],
      },
    )
    const { reached } = goal(aResult([copy]), 'exactly once ÷ at least once, copy')
    expect(reached).to.deep.equal({ median: 0.9, low: 0.8, high: 1 })
  })

  it('hold a latency when it is low enough', () => {
    const measure = 'p99 at 2,000 records/s, copy, 10 ms commits'
    expect(holds(goal(latencyOf(59), measure))).to.equal(true)
    expect(holds(goal(latencyOf(61), measure))).to.equal(false)
  })

  it('compare the cheaper settings of each side', () => {
    const copy = aScenario(
      { id: 'copy' },
      {
        millrace: [{ rate: 60, cpu: 1 }],
        'millrace-tuned': [{ rate: 80, cpu: 2 }],
        streams: [{ rate: 10, cpu: 12 }],
        'streams-tuned': [{ rate: 20, cpu: 8 }],
      },
    )
    expect(goal(aResult([copy]), 'processor time of a record, copy').reached?.median).to.equal(1 / 8)
  })

  it('say how far a record size lies above what a constant for each record and byte explains', () => {
    const measure = 'cost of a copy of 10 bytes to 100 kB, beside a constant for each record and each byte'
    expect(goal(copyCosts(3.5), measure).reached?.median).to.be.closeTo(1, 1e-9)
    expect(holds(goal(copyCosts(3.5), measure))).to.equal(true)
    expect(holds(goal(copyCosts(7), measure))).to.equal(false)
  })
})
