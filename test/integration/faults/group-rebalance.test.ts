import { expect } from 'chai'
import { ApplicationUnderTest, type ShapeName } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { faultFired } from '../../support/fault-count.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'
import { Traffic } from './traffic.ts'

const WAIT_MS = 90_000
/** A rebalance that gave this process something. */
const GIVEN = /"added":\["/
const ILLEGAL_GENERATION = 22

describe('replicas that come and go', function () {
  this.timeout(300_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest | undefined
  let proxy: KafkaProxy | undefined

  afterEach(async () => {
    await application?.dispose()
    await proxy?.stop()
    application = undefined
    proxy = undefined
  })

  async function anApplication(
    shape: ShapeName,
    properties: Readonly<Record<string, number>> = {},
  ): Promise<ApplicationUnderTest> {
    application = await ApplicationUnderTest.create({
      shape,
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
      partitions: 4,
      kafka: { 'heartbeat.interval.ms': 200, ...properties },
    })
    return application
  }

  async function aProxy(): Promise<KafkaProxy> {
    proxy = await KafkaProxy.start({ bootstrapServers: kafka().bootstrapServers })
    return proxy
  }

  it('give exact totals while they join, are stopped and are killed under load (F24, cases 2, 9, 48)', async () => {
    const app = await anApplication('totals', { 'session.timeout.ms': 2000 })
    const traffic = Traffic.flow(app)
    const first = await app.start({ instance: 'a' })
    await first.untilLine(GIVEN, WAIT_MS)
    const second = await app.start({ instance: 'b' })
    const third = await app.start({ instance: 'c' })
    await Promise.all([second.untilLine(GIVEN, WAIT_MS), third.untilLine(GIVEN, WAIT_MS)])
    await traffic.more(50)
    await third.kill()
    expect(await first.terminate()).to.deep.equal({ code: 0, signal: null })
    const thirdAgain = await app.start({ instance: 'c' })
    const fourth = await app.start({ instance: 'd' })
    await Promise.all([thirdAgain.untilLine(GIVEN, WAIT_MS), fourth.untilLine(GIVEN, WAIT_MS)])
    await traffic.more(50)
    await second.kill()
    await traffic.more(50)
    await traffic.stop()
    await app.expectExact()
    for (const process of [thirdAgain, fourth]) {
      expect(process.hasExited, 'a replica that nobody stopped').to.equal(false)
    }
    await app.expectConsistent()
    faultFired('F24', first.lines.filter(line => GIVEN.test(line)).length, 'rebalances under load')
  })

  it('take over nothing before a delayed commit has ended (F24, case 7)', async () => {
    const app = await anApplication('copy', { 'session.timeout.ms': 10_000 })
    const slow = await aProxy()
    const bootstrapServers = slow.bootstrapServers
    const first = await app.start({ instance: 'a', bootstrapServers })
    await first.untilLine(GIVEN, WAIT_MS)
    const traffic = Traffic.flow(app)
    const requests = slow.rule({
      api: ['TxnOffsetCommit', 'EndTxn'],
      direction: 'request',
      action: { type: 'delay', ms: 1_000 },
    })
    await requests.waitFired(1, WAIT_MS)
    const second = await app.start({ instance: 'b', bootstrapServers })
    await second.untilLine(GIVEN, WAIT_MS)
    expect((await second.terminate()).code).to.equal(0)
    requests.remove()
    const answers = slow.rule({ api: 'EndTxn', direction: 'response', action: { type: 'delay', ms: 1_000 } })
    const third = await app.start({ instance: 'c', bootstrapServers })
    await third.untilLine(GIVEN, WAIT_MS)
    await traffic.more(20)
    answers.remove()
    await traffic.stop()
    await app.expectExact()
    expect(requests.fired.length).to.be.greaterThan(3)
    expect(answers.fired.length).to.be.greaterThan(0)
    expect(first.log.filter(wentBack)).to.deep.equal([])
    await app.expectConsistent()
    faultFired('F24', answers.fired.length, 'commits that were slow in a rebalance')
  })

  it('commit a transaction with the new generation when theirs ended under it (F24, cases 5, 22)', async () => {
    const app = await anApplication('copy', { 'session.timeout.ms': 30_000 })
    const between = await aProxy()
    const start = (instance: string): Promise<MillraceProcess> =>
      app.start({ instance, bootstrapServers: between.bootstrapServers, kafka: { 'client.id': instance } })
    const first = await start('a')
    await first.untilLine(GIVEN, WAIT_MS)
    const second = await start('b')
    await second.untilLine(GIVEN, WAIT_MS)
    await app.write(40)
    await app.untilCaughtUp()

    // The round of a third member waits for the second one, so that the first one's JoinGroup is parked.
    const parked = between.rule({ api: 'JoinGroup', direction: 'request', clientId: 'a-1', action: [] })
    const lagging = between.rule({ api: 'JoinGroup', direction: 'request', clientId: 'b-1', action: { type: 'hold' } })
    const third = await start('c')
    await Promise.all([parked.waitFired(1, WAIT_MS), lagging.waitHeld(1, WAIT_MS)])
    const codes: number[] = []
    between.rule({
      api: 'TxnOffsetCommit',
      direction: 'response',
      clientId: 'a-1',
      action: {
        type: 'rewrite',
        body: response => {
          codes.push(...response.topics.flatMap(topic => topic.partitions.map(({ errorCode }) => errorCode)))
          return response
        },
      },
    })
    const commit = between.rule({
      api: 'TxnOffsetCommit',
      direction: 'request',
      clientId: 'a-1',
      times: 1,
      action: { type: 'hold' },
    })
    const flipped = between.rule({ api: 'JoinGroup', direction: 'response', clientId: 'a-1', action: [] })
    await app.write(40)
    await commit.waitHeld(1, WAIT_MS)
    lagging.remove()
    lagging.release()
    await flipped.waitFired(1, WAIT_MS)
    commit.release()
    await third.untilLine(GIVEN, WAIT_MS)
    await app.write(40)
    await app.expectExact()
    expect(codes[0]).to.equal(ILLEGAL_GENERATION)
    expect(codes.slice(1)).to.include(0)
    faultFired('F24', codes.filter(code => code === ILLEGAL_GENERATION).length, 'generations that ended in a commit')
    expect(first.log.filter(wentBack)).to.deep.equal([])
    await app.expectConsistent()
  })
})

function wentBack({ msg }: { readonly msg?: string }): boolean {
  return msg === 'going back to the last commit'
}
