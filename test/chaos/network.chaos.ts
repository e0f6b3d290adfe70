import { expect } from 'chai'
import { integerBetween, seededRandom } from '../../src/cli/demo/seeded-random.ts'
import { useBroker } from '../support/broker.ts'
import { faultFired } from '../support/fault-count.ts'
import { chaosSeed } from './chaos-seed.ts'
import { RECORDS, TotalsBehindProxy, WAIT_MS } from './totals-behind-proxy.ts'

const OF_EVERY_KIND = [
  'Fetch',
  'InitProducerId',
  'AddPartitionsToTxn',
  'Produce',
  'TxnOffsetCommit',
  'EndTxn',
  'Heartbeat',
] as const

describe(`a network that fails (seed ${String(chaosSeed())})`, function () {
  this.timeout(300_000)
  const kafka = useBroker('tv2')
  const random = seededRandom(chaosSeed() + 7)
  let totals: TotalsBehindProxy

  beforeEach(async () => {
    totals = await TotalsBehindProxy.start(kafka().bootstrapServers)
  })

  afterEach(() => totals.dispose())

  it('F20 a peer that takes requests and never answers, or never gets them: no wait is endless', async () => {
    const fired = await totals.underEach(
      OF_EVERY_KIND.filter(api => api !== 'InitProducerId').flatMap(api =>
        (['request', 'response'] as const).map(direction => ({
          api,
          direction,
          action: { type: 'drop' as const },
          nth: integerBetween(random, 1, 2),
        })),
      ),
    )
    faultFired('F20', fired, 'connections that fell silent')
  })

  it('F22 a slow link in small pieces: slower, right, and no transaction outlives its timeout', async () => {
    const { application, process, proxy } = totals
    const slow = proxy.rule({
      api: '*',
      direction: 'response',
      action: [
        { type: 'delay', ms: 100 },
        { type: 'slice', bytes: 700, gapMs: 5 },
      ],
    })
    const thin = proxy.rule({
      api: ['Produce', 'TxnOffsetCommit', 'EndTxn'],
      direction: 'request',
      action: { type: 'throttle', bytesPerSecond: 10_000 },
    })
    await application.write(RECORDS * 2)
    await application.untilCaughtUp(WAIT_MS)
    slow.remove()
    thin.remove()
    await application.expectExact(WAIT_MS)
    expect(process.lines.filter(line => line.includes('TRANSACTION_TIMED_OUT'))).to.deep.equal([])
    faultFired('F22', slow.fired.length + thin.fired.length, 'slow frames')
  })
})
