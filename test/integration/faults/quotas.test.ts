import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { faultFired } from '../../support/fault-count.ts'
import { sharedJavaClient } from '../../support/java-client.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'

/** Brokers look at 10 s: what is written here is above the rate for a few seconds of pauses. */
const BYTES_PER_SECOND = 25_000
/** One after the other: what is read slowly cannot be written too fast. */
const QUOTAS = { consumer_byte_rate: 'Fetch', producer_byte_rate: 'Produce' } as const
const RECORDS = 6_000
const WAIT_MS = 60_000
/** Timers may be early by that much. */
const TOLERANCE_MS = 50
/** A request that comes so soon after an answer may have met it on its way to a busy client; pauses are up to three seconds. */
const CROSSED_MS = 1_000

describe('an application over its quota', function () {
  this.timeout(180_000)
  const kafka = useBroker('tv2')

  it('waits as long as the broker asks for, loses nothing and aborts nothing (F25)', async () => {
    const { bootstrapServers } = kafka()
    const proxy = await KafkaProxy.start({ bootstrapServers })
    const application = await ApplicationUnderTest.create({ shape: 'copy', bootstrapServers })
    const clientId = `${application.id}-client`
    const java = await sharedJavaClient(bootstrapServers)
    try {
      const answers: { readonly api: string; readonly atMs: number; readonly pauseMs: number }[] = []
      const early: string[] = []
      for (const api of ['Produce', 'Fetch'] as const) {
        proxy.rule<'Produce' | 'Fetch'>({
          api,
          direction: 'response',
          action: {
            type: 'rewrite',
            body: response => {
              answers.push({ api, atMs: performance.now(), pauseMs: response.throttleTimeMs })
              return response
            },
          },
        })
        proxy.rule({
          api,
          direction: 'request',
          action: {
            type: 'call',
            run: () => {
              const last = answers.findLast(answer => answer.api === api)
              if (last === undefined) return
              const afterMs = performance.now() - last.atMs
              const leftMs = last.pauseMs - afterMs
              if (leftMs > TOLERANCE_MS && afterMs > CROSSED_MS) early.push(`${api} came ${String(leftMs)} ms early`)
            },
          },
        })
      }
      const process = await application.start({
        bootstrapServers: proxy.bootstrapServers,
        kafka: { 'client.id': clientId },
      })
      for (const [quota, api] of Object.entries(QUOTAS)) {
        await java.command(['quota', `${clientId}-1`, quota, String(BYTES_PER_SECOND)])
        await application.write(RECORDS)
        await application.expectExact(WAIT_MS)
        await java.command(['quota', `${clientId}-1`, quota, 'none'])
        const pauses = answers.filter(answer => answer.api === api).map(({ pauseMs }) => pauseMs)
        expect(Math.max(...pauses), api).to.be.greaterThan(TOLERANCE_MS)
      }

      expect(early).to.deep.equal([])
      faultFired('F25', answers.filter(({ pauseMs }) => pauseMs > 0).length, 'answers that asked for a pause')
      expect(proxy.failures).to.deep.equal([])
      const { port } = JSON.parse(await process.untilLine('health and metrics are served')) as { port: number }
      const metrics = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
      expect(Number(/^millrace_throttle_seconds_total\{.*\} (.*)$/m.exec(metrics)?.[1])).to.be.greaterThan(0)
      expect(metrics).not.to.include('millrace_aborts_total')
      const warnings = process.log.filter(({ level }) => level === 'warn' || level === 'error')
      // Told once a minute.
      expect([...new Set(warnings.map(({ msg }) => msg))]).to.deep.equal([
        'a quota is used up: the broker asks for pauses, and processing goes on slower',
      ])
    } finally {
      for (const quota of Object.keys(QUOTAS)) await java.command(['quota', `${clientId}-1`, quota, 'none'])
      await application.dispose()
      await proxy.stop()
    }
  })
})
