import { expect } from 'chai'
import { planOf } from '../../../bench/suites.ts'

function idsOf(only: string): string[] {
  const wanted = { suites: ['workloads', 'variants'] as const, only: [only], contenders: [], records: 1_000 }
  return planOf(wanted).throughput.map(({ id }) => id)
}

describe('the plan of a run', () => {
  it('has everybody in the latency suite who can do the work', () => {
    const { latency } = planOf({ suites: ['latency'], only: [], contenders: [], records: 1_000 })
    expect(latency.map(({ id, contenders }) => [id, contenders])).to.deep.equal([
      ['copy', ['millrace', 'streams', 'millrace-tuned', 'streams-tuned', 'raw']],
      ['copy-10ms', ['millrace', 'streams', 'millrace-tuned', 'streams-tuned', 'raw']],
      ['count', ['millrace', 'streams', 'millrace-tuned', 'streams-tuned']],
      ['count-10ms', ['millrace', 'streams', 'millrace-tuned', 'streams-tuned']],
    ])
  })

  it('leaves out scenarios that none of the wanted contenders can do', () => {
    const { throughput } = planOf({ suites: ['workloads'], only: [], contenders: ['kafkajs'], records: 1_000 })
    expect(throughput.map(({ id }) => id)).to.deep.equal(['copy', 'json'])
  })

  it('takes a scenario alone, or with all its variants', () => {
    expect(idsOf('count')).to.deep.equal(['count'])
    expect(idsOf('count-')).to.deep.equal(['count', 'count-10ms', 'count-2-threads', 'count-at-least-once'])
  })
})
