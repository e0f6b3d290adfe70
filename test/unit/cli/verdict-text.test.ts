import { expect } from 'chai'
import { verdictText } from '../../../src/cli/verdict-text.ts'
import { RunBench } from '../verification/run-bench.ts'
import { copy, feed, joined } from '../verification/topologies.ts'

function textOf(define: ConstructorParameters<typeof RunBench>[0], hasProvenance: boolean): string {
  const bench = new RunBench(define, { hasProvenance })
  feed(bench, 40)
  bench.run()
  return verdictText(bench.observe(), bench.judge())
}

describe('the verdict for people', () => {
  it('says calmly what is missing, and how to switch it on, where records do not say where they come from', () => {
    const text = textOf(joined, false)
    expect(text).to.match(/not judged: task \d_0 reads 2 inputs, and without provenance\.headers/)
    expect(text).to.contain('Verdict: not judged. Nothing was found wrong;')
    expect(text).to.contain('streams: { provenance.headers: true }')
    expect(text).not.to.match(/VIOLATED|NOT JUDGED|nothing can be promised/)
  })

  it('says nothing of it where it would not help', () => {
    const bench = new RunBench(copy, { hasProvenance: false })
    feed(bench, 40)
    bench.unsettled.push('the application is running')
    bench.run()
    const text = verdictText(bench.observe(), bench.judge())
    expect(text).to.contain('Verdict: not judged')
    expect(text).not.to.contain('provenance.headers: true')
    expect(textOf(copy, false)).to.contain('Verdict: consistent')
  })
})
