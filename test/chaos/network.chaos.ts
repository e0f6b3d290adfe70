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

  it('F20 a peer that takes requests and never answers, or never gets them: no wait is endless', async () => {
    const handles = await underEach(
      OF_EVERY_KIND.filter(api => api !== 'InitProducerId').flatMap(api =>
        (['request', 'response'] as const).map(direction => ({
          api,
          direction,
          action: { type: 'drop' as const },
          nth: integerBetween(random, 1, 2),
        })),
      ),
    )
    faultFired('F20', fired(handles), 'connections that fell silent')
  })

  it('F22 a slow link in small pieces: slower, right, and no transaction outlives its timeout', async () => {
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

function fired(handles: readonly RuleHandle[]): number {
  return handles.reduce((sum, one) => sum + one.fired.length, 0)
}
