import { expect } from 'chai'
import { MetadataRefresher } from '../../../../src/kafka/cluster/metadata-refresher.ts'
import { ManualClock, settle } from '../../../support/manual-clock.ts'

interface AskedQuestion {
  readonly names: readonly string[]
  readonly answer: () => void
  readonly fail: (error: Error) => void
}

describe('MetadataRefresher', () => {
  let clock: ManualClock
  let asked: AskedQuestion[]
  let refresher: MetadataRefresher

  beforeEach(() => {
    clock = new ManualClock()
    asked = []
    const ask = (names: readonly string[]): Promise<void> =>
      new Promise((answer, fail) => {
        asked.push({ names, answer, fail })
      })
    refresher = new MetadataRefresher(ask, clock, 100)
  })

  it('shares one question among the calls that come before it leaves', async () => {
    const all = Promise.all([refresher.refresh(['a']), refresher.refresh(['b', 'a'])])
    await settle()
    expect(asked.map(({ names }) => names)).to.deep.equal([['a', 'b']])
    asked[0]?.answer()
    await all
  })

  it('answers a call by a question that left after it, never by one that was under way', async () => {
    const first = refresher.refresh(['a'])
    await settle()
    let done = false
    const second = refresher.refresh(['b']).then(() => (done = true))
    asked[0]?.answer()
    await first
    await settle()
    expect(done).to.equal(false)
    expect(asked[1]?.names).to.deep.equal(['b'])
    asked[1]?.answer()
    await second
  })

  it('does not ask the same question again within the back-off', async () => {
    const first = refresher.refresh(['a', 'b'])
    await settle()
    asked[0]?.answer()
    await first
    const again = refresher.refresh(['a'])
    await clock.advance(99)
    expect(asked.length).to.equal(1)
    await clock.advance(1)
    expect(asked.length).to.equal(2)
    asked[1]?.answer()
    await again
  })

  it('asks at once about a topic that the last question did not name', async () => {
    const first = refresher.refresh(['a'])
    await settle()
    asked[0]?.answer()
    await first
    const other = refresher.refresh(['a', 'c'])
    await settle()
    expect(asked.length).to.equal(2)
    asked[1]?.answer()
    await other
  })

  it('passes a failure to those who asked, and goes on', async () => {
    const failing = refresher.refresh(['a']).catch((error: unknown) => String(error))
    await settle()
    const next = refresher.refresh(['b'])
    asked[0]?.fail(new Error('no broker'))
    expect(await failing).to.equal('Error: no broker')
    await settle()
    asked[1]?.answer()
    await next
    expect(asked.length).to.equal(2)
  })
})
