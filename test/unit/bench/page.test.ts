import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { chartOf } from '../../../bench/chart.ts'
import { DOCUMENTS } from '../../../bench/documents.ts'
import { benchmarksPage, reportText } from '../../../bench/page.ts'
import { parseResult, REFERENCE_FILE } from '../../../bench/result-file.ts'
import { aLatencyScenario, aResult, aScenario } from './result-builder.ts'

const result = aResult(
  [
    aScenario(
      { id: 'copy' },
      {
        millrace: [
          { rate: 1_200_000, cpu: 0.8 },
          { rate: 1_000_000, cpu: 1 },
          { rate: 1_100_000, cpu: 0.9 },
        ],
        streams: [
          { rate: 200_000, cpu: 12 },
          { rate: 200_000, cpu: 12 },
          { rate: 220_000, cpu: 12 },
        ],
      },
    ),
  ],
  [aLatencyScenario('copy', { millrace: [100], streams: [144] })],
)

describe('the page of benchmarks', () => {
  const page = benchmarksPage(result)

  it('has a row for each contender, with ratio and spread', () => {
    expect(page).to.include('| copy | millrace | 1100 (1000 … 1200) | 5.50 (5.00 … 6.00) | 550 | 0.90 | 2.00 | 1 |')
    expect(page).to.include('| copy | Kafka Streams | 200 (200 … 220) |  | 100 | 12.00 | 2.00 | 1 |')
  })

  it('says which goals are reached', () => {
    expect(page).to.include('| copy, defaults ÷ defaults | ≥ 6 | 5.50 (5.00 … 6.00) | no |')
    expect(page).to.include('| processor time of a record, copy | ≤ 1/12 |')
    expect(page).to.match(/processor time of a record, copy .* yes \|/)
    expect(page).to.include('| p99 at 2,000 records/s, copy, 100 ms commits | ≤ 0.85 | 0.69 | yes |')
  })

  it('names the machine, the versions and the day', () => {
    expect(page).to.include('Analytical Engine, 2 processors, 1 GB, Brass 1.0, Node v20.0.0, Java 17')
    expect(page).to.include('on 2026-01-31 at commit abc1234')
  })

  it('warns of figures that were taken while the machine had other work', () => {
    expect(page).to.not.include('busy with other work')
    expect(benchmarksPage({ ...result, busyBefore: 1.14 })).to.include('(1.1 processors before the run)')
    expect(benchmarksPage({ ...result, busyBefore: Number.NaN })).to.not.include('busy with other work')
  })

  it('says how much was measured', () => {
    expect(page).to.include('Inputs of 1,000 records; rounds: 3.')
  })

  it('has no heading without a table', () => {
    expect(page).to.not.include('## Three brokers')
    expect(page).to.include('## Latency')
  })

  it('shows the same on a terminal', () => {
    expect(reportText(result)).to.match(/^copy +millrace +1100 \(1000 … 1200\) +5\.50/m)
  })
})

describe('the chart', () => {
  const chart = chartOf(result)

  it('draws bars as long as the rates are high', () => {
    const [ours = 0, theirs = 0] = [...chart.matchAll(/<rect x="170"[^>]* width="([\d.]+)"/g)].map(([, width]) =>
      Number(width),
    )
    expect(ours / theirs).to.be.closeTo(5.5, 0.05)
  })

  it('writes the rates beside them', () => {
    expect(chart).to.include('>1100</text>').and.to.include('>200</text>')
  })

  it('stays within its frame', () => {
    const [, width = '', height = ''] = /viewBox="0 0 (\d+) (\d+)"/.exec(chart) ?? []
    for (const [, x, y] of chart.matchAll(/ x="([\d.]+)" y="([\d.]+)"/g)) {
      expect(Number(x)).to.be.below(Number(width))
      expect(Number(y)).to.be.below(Number(height))
    }
  })
})

describe('documents of the kept result', () => {
  const reference = existsSync(REFERENCE_FILE) ? parseResult(readFileSync(REFERENCE_FILE, 'utf8')) : undefined

  it('have a result to show', () => {
    expect(reference?.ratios['copy']).to.include.all.keys('throughput', 'cpu', 'memory')
  })

  for (const [path, render] of Object.entries(DOCUMENTS)) {
    it(`${path} is as the result says (npm run bench -- --render)`, () => {
      expect(reference === undefined ? '' : render(reference)).to.equal(readFileSync(path, 'utf8'))
    })
  }
})
