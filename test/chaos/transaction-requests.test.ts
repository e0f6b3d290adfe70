import { expect } from 'chai'
import { integerBetween, seededRandom } from '../../src/cli/demo/seeded-random.ts'
import { useBroker } from '../support/broker.ts'
import { faultFired } from '../support/fault-count.ts'
import { chaosSeed } from './chaos-seed.ts'
import { TotalsBehindProxy } from './totals-behind-proxy.ts'

const COORDINATOR_LOAD_IN_PROGRESS = 14
const NOT_COORDINATOR = 16

/** Requests of a commit in their order; a coordinator may move between any two of them. */
const OF_A_COMMIT = ['AddPartitionsToTxn', 'TxnOffsetCommit', 'EndTxn'] as const

describe(`requests of a transaction (seed ${String(chaosSeed())})`, function () {
  this.timeout(300_000)
  const kafka = useBroker('tv2')
  const random = seededRandom(chaosSeed() + 7)
  let totals: TotalsBehindProxy

  beforeEach(async () => {
    totals = await TotalsBehindProxy.start(kafka().bootstrapServers)
  })

  afterEach(() => totals.dispose())

  it('F17 a coordinator that moves between any two requests of a transaction: found again, and it ends one way', async () => {
    const fired = await totals.underEach(
      OF_A_COMMIT.flatMap(api =>
        [NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS].map(code => ({
          api,
          direction: 'request' as const,
          action: { type: 'error' as const, code },
          times: integerBetween(random, 1, 4),
        })),
      ),
    )
    expect(totals.proxy.failures).to.deep.equal([])
    faultFired('F17', fired, 'answers of a coordinator that has moved')
  })

  it('F19 requests that arrive twice: counted once', async () => {
    const fired = await totals.underEach(
      (['Produce', 'AddPartitionsToTxn', 'TxnOffsetCommit', 'EndTxn'] as const).map(api => ({
        api,
        direction: 'request',
        action: { type: 'duplicate' },
        nth: integerBetween(random, 1, 3),
      })),
    )
    expect(totals.proxy.failures).to.deep.equal([])
    faultFired('F19', fired, 'requests sent twice')
  })
})
