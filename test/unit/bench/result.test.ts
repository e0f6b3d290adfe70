import { expect } from 'chai'
import { parseResult } from '../../../bench/result-file.ts'
import { mergeResults, ratiosOf } from '../../../bench/result.ts'
import { aLatencyScenario, aResult, aScenario } from './result-builder.ts'

describe('a result', () => {
  const copy = aScenario(
    { id: 'copy' },
    {
      millrace: [
        { rate: 600, cpu: 1, memory: 10 },
        { rate: 800, cpu: 3, memory: 30 },
        { rate: 700, cpu: 2, memory: 20 },
      ],
      streams: [
        { rate: 100, cpu: 20, memory: 40 },
        { rate: 100, cpu: 20, memory: 50 },
        { rate: 90, cpu: 20, memory: 60 },
      ],
    },
  )

  it('has the ratios of the medians to Kafka Streams', () => {
    expect(ratiosOf([copy], [])).to.deep.equal({ copy: { throughput: 7, cpu: 0.1, memory: 0.4 } })
  })

  it('has the latency beside them, under the same name', () => {
    const latency = aLatencyScenario('copy', { millrace: [50, 60, 70], streams: [100, 120, 140] })
    expect(ratiosOf([copy], [latency])).to.deep.equal({
      copy: { throughput: 7, cpu: 0.1, memory: 0.4, latencyP99: 0.5 },
    })
  })

  it('has no ratios where Kafka Streams did not take part', () => {
    expect(ratiosOf([aScenario({ id: 'copy' }, { millrace: [{ rate: 1 }], raw: [{ rate: 2 }] })], [])).to.deep.equal({})
  })

  it('is the same after it was written and read', () => {
    const result = aResult([copy], [aLatencyScenario('copy', { millrace: [1], streams: [2] })])
    expect(parseResult(JSON.stringify(result))).to.deep.equal(result)
  })

  it('is refused when it is none', () => {
    expect(() => parseResult('{"format":2}')).to.throw('format')
  })

  it('takes the place of scenarios of the same name in an older one', () => {
    const count = aScenario({ id: 'count', workload: 'count' }, { millrace: [{ rate: 1 }], streams: [{ rate: 1 }] })
    const again = aScenario({ id: 'copy' }, { millrace: [{ rate: 8 }], streams: [{ rate: 1 }] })
    const merged = mergeResults(aResult([copy, count]), { ...aResult([again]), date: '2026-02-01' })
    expect(merged.throughput).to.deep.equal([count, again])
    expect(merged.ratios['copy']?.throughput).to.equal(8)
    expect(merged.ratios['count']?.throughput).to.equal(1)
    expect(merged.date).to.equal('2026-02-01')
  })

  it('is not mixed with that of another machine', () => {
    const fresh = aResult([copy])
    const elsewhere = { ...aResult([aScenario({ id: 'count' }, {})]), machine: { ...fresh.machine, processors: 64 } }
    expect(mergeResults(elsewhere, fresh)).to.equal(fresh)
  })
})
