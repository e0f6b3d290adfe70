import { expect } from 'chai'
import { Traffic } from '../integration/faults/traffic.ts'
import { ApplicationUnderTest } from '../support/application.ts'
import { KafkaProxy, type ProxyRule, type RuleHandle } from '../support/kafka-proxy.ts'
import type { MillraceProcess } from '../support/millrace-process.ts'

/** Records that an application has counted before its faults begin. */
export const RECORDS = 60
/** How long each wait may take. */
export const WAIT_MS = 90_000

/** An application that counts and sums behind a proxy, at work. */
export class TotalsBehindProxy {
  readonly proxy: KafkaProxy
  readonly application: ApplicationUnderTest
  readonly process: MillraceProcess

  private constructor(proxy: KafkaProxy, application: ApplicationUnderTest, process: MillraceProcess) {
    this.proxy = proxy
    this.application = application
    this.process = process
  }

  static async start(bootstrapServers: string): Promise<TotalsBehindProxy> {
    const proxy = await KafkaProxy.start({ bootstrapServers })
    const application = await ApplicationUnderTest.create({
      shape: 'totals',
      judged: true,
      bootstrapServers,
      kafka: { 'request.timeout.ms': 2_000, 'delivery.timeout.ms': 30_000, 'transaction.timeout.ms': 10_000 },
    })
    await application.write(RECORDS)
    const process = await application.start({ bootstrapServers: proxy.bootstrapServers })
    await application.untilCaughtUp(WAIT_MS)
    return new TotalsBehindProxy(proxy, application, process)
  }

  async dispose(): Promise<void> {
    await this.application.dispose()
    await this.proxy.stop()
    expect(this.proxy.failures).to.deep.equal([])
  }

  /** What the process has said last, for the report of a failure. */
  get #lastWords(): string {
    return this.process.lines.slice(-10).join('\n')
  }

  /**
   * Puts rules to work one after the other, each under load, until each fired; then everything must be exact.
   *
   * @returns how often they fired
   */
  async underEach(rules: readonly ProxyRule[]): Promise<number> {
    const { application } = this
    const handles: RuleHandle[] = []
    for (const rule of rules) {
      const handle = this.proxy.rule(rule)
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
    expect(this.process.hasExited, this.#lastWords).to.equal(false)
    await application.expectConsistent()
    return handles.reduce((sum, one) => sum + one.fired.length, 0)
  }
}
