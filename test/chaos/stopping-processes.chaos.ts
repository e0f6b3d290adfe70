import { expect } from 'chai'
import { ApplicationUnderTest } from '../support/application.ts'
import { useBroker } from '../support/broker.ts'
import { faultFired } from '../support/fault-count.ts'
import { KafkaProxy } from '../support/kafka-proxy.ts'
import type { MillraceProcess } from '../support/millrace-process.ts'

const RECORDS = 60
const WAIT_MS = 90_000

/** When SIGTERM comes; each says how often that moment was really there. */
type Moment = 'in the middle of a batch' | 'in the middle of a rebalance' | 'in the middle of a restore'

describe('SIGTERM at any time', function () {
  this.timeout(300_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest
  let proxy: KafkaProxy

  beforeEach(async () => {
    proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    application = await ApplicationUnderTest.create({
      shape: 'totals',
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
      kafka: { 'heartbeat.interval.ms': 300, 'max.partition.fetch.bytes': 8_192 },
    })
    await application.write(RECORDS)
  })

  afterEach(async () => {
    await application.dispose()
    await proxy.stop()
  })

  const start = (instance: string): Promise<MillraceProcess> =>
    application.start({ instance, bootstrapServers: proxy.bootstrapServers, kafka: { 'client.id': instance } })

  for (const signals of [1, 2]) {
    for (const moment of [
      'in the middle of a batch',
      'in the middle of a rebalance',
      'in the middle of a restore',
    ] as const satisfies readonly Moment[]) {
      it(`F14 ${moment}, ${String(signals)} × SIGTERM: exit code 0, nothing open, nothing lost or twice`, async () => {
        const running = await start('a')
        await application.untilCaughtUp(WAIT_MS)
        const reached = await MOMENTS[moment](running)
        for (let count = 0; count < signals; count += 1) reached.process.signal('SIGTERM')
        expect(await reached.process.untilExit(WAIT_MS), reached.process.lines.slice(-20).join('\n')).to.deep.equal({
          code: 0,
          signal: null,
        })
        reached.letGo()
        await application.expectNothingOpen()
        await application.write(RECORDS)
        const next = await application.start({ instance: 'next' })
        await application.expectExact(WAIT_MS)
        expect(next.hasExited).to.equal(false)
        await application.expectConsistent()
        faultFired('F14', reached.times, `SIGTERM ${moment}`)
      })
    }
  }

  interface Reached {
    readonly process: MillraceProcess
    readonly times: number
    readonly letGo: () => void
  }

  const MOMENTS: Readonly<Record<Moment, (running: MillraceProcess) => Promise<Reached>>> = {
    'in the middle of a batch': async running => {
      const produced = proxy.rule({ api: 'Produce', direction: 'response', action: { type: 'delay', ms: 50 } })
      await application.write(RECORDS)
      await produced.waitFired(1, WAIT_MS)
      return { process: running, times: produced.fired.length, letGo: () => produced.remove() }
    },
    'in the middle of a rebalance': async running => {
      // The second member's SyncGroup is slow, so that the first one stops while the round is not over.
      const slow = proxy.rule({ api: 'SyncGroup', direction: 'request', action: { type: 'delay', ms: 1_500 } })
      const other = await start('b')
      await application.write(RECORDS)
      await slow.waitFired(1, WAIT_MS)
      return {
        process: running,
        times: slow.fired.length,
        letGo: () => {
          slow.remove()
          other.signal('SIGKILL')
        },
      }
    },
    'in the middle of a restore': async running => {
      await application.write(RECORDS * 20)
      await application.untilCaughtUp(WAIT_MS)
      await running.kill()
      const slow = proxy.rule({ api: 'Fetch', direction: 'response', action: { type: 'delay', ms: 1_000 } })
      const restoring = await start('a')
      await slow.waitFired(2, WAIT_MS)
      expect(restoring.lines.some(line => line.includes('the application is running'))).to.equal(false)
      return { process: restoring, times: slow.fired.length, letGo: () => slow.remove() }
    },
  }
})
