import { expect } from 'chai'
import { integerBetween, seededRandom } from '../../src/cli/demo/seeded-random.ts'
import { Traffic } from '../integration/faults/traffic.ts'
import { ApplicationUnderTest } from '../support/application.ts'
import { useBroker } from '../support/broker.ts'
import { faultFired } from '../support/fault-count.ts'
import { KafkaProxy, type ProxyRule, type RuleHandle } from '../support/kafka-proxy.ts'
import type { MillraceProcess } from '../support/millrace-process.ts'
import { chaosSeed } from './chaos-seed.ts'

const RECORDS = 60
const WAIT_MS = 90_000
const COORDINATOR_LOAD_IN_PROGRESS = 14
const NOT_COORDINATOR = 16

/** Requests of a commit in their order; a coordinator may move between any two of them. */
const OF_A_COMMIT = ['AddPartitionsToTxn', 'TxnOffsetCommit', 'EndTxn'] as const

describe(`requests of a transaction (seed ${String(chaosSeed())})`, function () {
  this.timeout(300_000)
  const kafka = useBroker('tv2')
  const random = seededRandom(chaosSeed() + 7)
  let application: ApplicationUnderTest
  let proxy: KafkaProxy
  let process: MillraceProcess

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    application = await ApplicationUnderTest.create({
      shape: 'totals',
      bootstrapServers: kafka().bootstrapServers,
      kafka: { 'request.timeout.ms': 2_000, 'delivery.timeout.ms': 30_000, 'transaction.timeout.ms': 10_000 },
    })
    await application.write(RECORDS)
    process = await application.start({ bootstrapServers: proxy.bootstrapServers })
    await application.untilCaughtUp(WAIT_MS)
  })

  afterEach(async () => {
    await application.dispose()
    await proxy.stop()
    expect(proxy.failures).to.deep.equal([])
  })

  /** Puts rules to work one after the other, each under load, until each fired; then everything must be exact. */
  async function underEach(rules: readonly ProxyRule[]): Promise<readonly RuleHandle[]> {
    const handles: RuleHandle[] = []
    for (const rule of rules) {
      const handle = proxy.rule(rule)
      handles.push(handle)
      const traffic = Traffic.flow(application)
      try {
        await handle.waitFired(1, WAIT_MS)
      } finally {
        await traffic.stop()
      }
      await application.untilCaughtUp(WAIT_MS)
      handle.remove()
      handle.release()
    }
    await application.expectExact(WAIT_MS)
    expect(process.hasExited, process.lines.slice(-10).join('\n')).to.equal(false)
    return handles
  }

  it('F17 a coordinator that moves between any two requests of a transaction: found again, and it ends one way', async () => {
    const handles = await underEach(
      OF_A_COMMIT.flatMap(api =>
        [NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS].map(code => ({
          api,
          direction: 'request' as const,
          action: { type: 'error' as const, code },
          times: integerBetween(random, 1, 4),
        })),
      ),
    )
    faultFired('F17', fired(handles), 'answers of a coordinator that has moved')
  })

  it('F19 requests that arrive twice: counted once', async () => {
    const handles = await underEach(
      (['Produce', 'AddPartitionsToTxn', 'TxnOffsetCommit', 'EndTxn'] as const).map(api => ({
        api,
        direction: 'request',
        action: { type: 'duplicate' },
        nth: integerBetween(random, 1, 3),
      })),
    )
    faultFired('F19', fired(handles), 'requests sent twice')
  })
})

function fired(handles: readonly RuleHandle[]): number {
  return handles.reduce((sum, one) => sum + one.fired.length, 0)
}
