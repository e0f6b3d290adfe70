import { expect } from 'chai'
import { integerBetween, seededRandom } from '../../src/cli/demo/seeded-random.ts'
import { ApplicationUnderTest } from '../support/application.ts'
import { useBroker } from '../support/broker.ts'
import { faultFired } from '../support/fault-count.ts'
import { KafkaProxy } from '../support/kafka-proxy.ts'
import { chaosSeed } from './chaos-seed.ts'

const RECORDS = 40
const WAIT_MS = 90_000
/** So that a restore takes as many fetches as it is killed at places. */
const RESTORE_RECORDS = 4_000
const SMALL_FETCHES = { 'max.partition.fetch.bytes': 8_192 }
const TENTHS = 9

describe(`killed processes (seed ${String(chaosSeed())})`, function () {
  this.timeout(300_000)
  const kafka = useBroker('tv2')
  const random = seededRandom(chaosSeed())
  let application: ApplicationUnderTest
  let proxy: KafkaProxy

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
  })

  afterEach(async () => {
    await application.dispose()
    await proxy.stop()
    expect(proxy.failures).to.deep.equal([])
  })

  it('F1 after a fetch, before anything was sent: nothing is visible, and work begins again at C', async () => {
    application = await ApplicationUnderTest.create({
      shape: 'totals',
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
    })
    await application.write(RECORDS)
    const first = await application.start({ bootstrapServers: proxy.bootstrapServers })
    await application.untilCaughtUp(WAIT_MS)
    const visible = (await application.readOutput()).length
    // The first thing that leaves a thread with fetched records; the broker never sees it.
    const kill = proxy.rule({
      api: 'AddPartitionsToTxn',
      direction: 'request',
      times: 1,
      action: [{ type: 'signal', pid: first.pid, signal: 'SIGKILL' }, { type: 'drop' }],
    })
    await application.write(RECORDS)
    expect((await first.untilExit(WAIT_MS)).signal).to.equal('SIGKILL')
    expect(await application.openTransactions(), 'nothing was begun').to.deep.equal([])
    expect((await application.readOutput()).length, 'nothing is visible').to.equal(visible)
    await application.start({ bootstrapServers: proxy.bootstrapServers })
    await application.expectExact(WAIT_MS)
    await application.expectConsistent()
    faultFired('F1', kill.fired.length, 'kills before anything was sent')
  })

  it('F9 inside a restore, at each tenth of it: the next restore works, and a part is never trusted', async () => {
    application = await ApplicationUnderTest.create({
      shape: 'counts',
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
      kafka: SMALL_FETCHES,
    })
    await application.write(RESTORE_RECORDS)
    const first = await application.start()
    await application.untilCaughtUp(WAIT_MS)
    await first.kill()

    // A whole restore first: how many fetches it takes.
    const fetchesBefore = proxy.count('Fetch', 'response')
    const whole = await application.start({ bootstrapServers: proxy.bootstrapServers })
    await whole.untilLine('the application is running', WAIT_MS)
    const fetches = proxy.count('Fetch', 'response') - fetchesBefore
    await whole.kill()

    let inside = 0
    for (let tenth = 1; tenth <= TENTHS; tenth += 1) {
      await application.write(integerBetween(random, 1, 5))
      const killed = await application.start({ bootstrapServers: proxy.bootstrapServers })
      const nth = Math.max(1, Math.round((fetches * tenth) / 10))
      const kill = proxy.rule({
        api: 'Fetch',
        direction: 'response',
        nth,
        action: [{ type: 'signal', pid: killed.pid, signal: 'SIGKILL' }, { type: 'reset' }],
      })
      await killed.untilExit(WAIT_MS)
      kill.remove()
      expect(kill.fired, `kills at fetch ${String(nth)} of ${String(fetches)}`).to.have.lengthOf(1)
      if (!killed.lines.some(line => line.includes('the application is running'))) inside += 1
    }
    await application.start()
    await application.expectExact(WAIT_MS)
    await application.expectConsistent()
    faultFired('F9', inside, 'kills before all stores were restored')
  })
})
