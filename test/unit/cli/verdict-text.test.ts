import { expect } from 'chai'
import { verdictJson, verdictText } from '../../../src/cli/verdict-text.ts'
import { strictly } from '../../../src/verification/check-run.ts'
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

  it('calls a yes weaker to which not every check could say its part, and names the parts', () => {
    const text = textOf(copy, false)
    expect(text).to.contain('Verdict: consistent as far as it could be checked')
    expect(text).to.match(/^Could not be checked:$/mu)
    expect(text).to.match(/^ {2}tiling: which transaction took which record/mu)
    expect(text).to.match(/^tiling +- +0 /mu)
    const whole = textOf(copy, true)
    expect(whole).to.contain('Verdict: consistent: what is visible')
    expect(whole).not.to.contain('Could not be checked')
  })

  it('says to the strict how such a run can be judged in whole', () => {
    const bench = new RunBench(copy, { hasProvenance: false })
    feed(bench, 40)
    bench.run()
    const text = verdictText(bench.observe(), strictly(bench.judge()))
    expect(text).to.contain('Verdict: not judged')
    expect(text).to.contain('streams: { provenance.headers: true }')
    expect(JSON.parse(verdictJson(bench.observe(), bench.judge()))).to.include({
      verdict: 'consistent',
      complete: false,
    })
  })
})
