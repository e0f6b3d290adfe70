import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { type BrokerKind, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { faultFired } from '../../support/fault-count.ts'
import { KafkaProxy, type ProxyRule } from '../../support/kafka-proxy.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'

const RECORDS = 40
const LONG_MS = 60_000

/** Where the zombie is stopped; the frame reaches its goal only after it has lost its place. */
type Moment = 'Produce' | 'TxnOffsetCommit' | 'EndTxn'

const MOMENTS: readonly (readonly [BrokerKind, readonly Moment[]])[] = [
  ['tv2', ['Produce', 'TxnOffsetCommit', 'EndTxn']],
  ['tv0', ['TxnOffsetCommit', 'EndTxn']],
  ['3.9.1', ['EndTxn']],
]

/** Stops the process when the frame comes by, and keeps the frame. */
function stopping(process: MillraceProcess, api: Moment): ProxyRule<Moment> {
  return {
    api,
    direction: 'request',
    times: 1,
    action: [{ type: 'call', run: () => process.signal('SIGSTOP') }, { type: 'hold' }],
  }
}

function assignments(process: MillraceProcess): number {
  return process.log.filter(({ msg }) => msg === 'assignment applied').length
}

for (const [kind, moments] of MOMENTS) {
  describe(`a process stopped in a transaction (${kind})`, function () {
    this.timeout(180_000)
    const kafka = useBroker(kind)
    let proxy: KafkaProxy
    let application: ApplicationUnderTest

    beforeEach(async () => {
      proxy = await KafkaProxy.start(kafka())
    })

    afterEach(async () => {
      await application.dispose()
      await proxy.stop()
    })

    for (const moment of moments) {
      it(`before its ${moment} arrives, past its session: is fenced, makes nothing visible, rejoins and works (I5, F10, case 5)`, async () => {
        application = await ApplicationUnderTest.create({
          shape: 'counts',
          judged: true,
          bootstrapServers: kafka().bootstrapServers,
          kafka: { 'session.timeout.ms': 2_000, 'heartbeat.interval.ms': 300, 'transaction.timeout.ms': 3_000 },
        })
        await application.write(RECORDS)
        const zombie = await application.start({ instance: 'a', bootstrapServers: proxy.bootstrapServers })
        await application.untilCaughtUp()
        const held = proxy.rule(stopping(zombie, moment))
        await application.write(RECORDS)
        await held.waitHeld(1, LONG_MS)
        expect(await application.openTransactions(), 'the zombie has a transaction open').to.have.lengthOf(1)

        const successor = await application.start({ instance: 'b' })
        await application.write(RECORDS)
        await application.expectExactSoFar(LONG_MS)
        await successor.untilLine('assignment applied', LONG_MS)

        const before = assignments(zombie)
        zombie.signal('SIGCONT')
        held.release()
        const [exchange] = held.fired
        if (exchange === undefined) throw new Error('nothing was held')
        await eventually('the zombie has a place again', () => assignments(zombie) > before, LONG_MS)
        expect(zombie.lines.join('\n'), 'the zombie has noticed').to.match(
          /MEMBERSHIP_LOST|PRODUCER_FENCED|TRANSACTION_/,
        )
        // Nothing of the zombie's has come through: it would be there twice now.
        await application.expectExactSoFar(LONG_MS)

        expect(await successor.terminate(LONG_MS)).to.deep.equal({ code: 0, signal: null })
        await application.write(RECORDS)
        await application.expectExact(LONG_MS)
        expect(zombie.hasExited).to.equal(false)
        await application.expectConsistent()
        faultFired('F10', held.fired.length, `zombies at ${moment}`)
      })
    }

    it('past its transaction timeout, but not its session: the broker aborts, the same member goes on (F11, F23)', async () => {
      application = await ApplicationUnderTest.create({
        shape: 'counts',
        judged: true,
        bootstrapServers: kafka().bootstrapServers,
        kafka: { 'session.timeout.ms': 45_000, 'transaction.timeout.ms': 2_000 },
      })
      await application.write(RECORDS)
      const process = await application.start({ bootstrapServers: proxy.bootstrapServers })
      await application.untilCaughtUp()
      const memberBefore = await memberOf(application)
      const held = proxy.rule(stopping(process, 'TxnOffsetCommit'))
      await application.write(RECORDS)
      await held.waitHeld(1, LONG_MS)
      expect(await application.openTransactions()).to.have.lengthOf(1)
      await eventually('the broker aborts', async () => (await application.openTransactions()).length === 0, LONG_MS)

      process.signal('SIGCONT')
      held.release()
      await application.expectExact(LONG_MS)
      expect(process.log.map(({ err }) => (err as { code?: string } | undefined)?.code)).to.include(
        'TRANSACTION_TIMED_OUT',
      )
      expect(await memberOf(application), 'member and generation').to.deep.equal(memberBefore)
      expect(assignments(process)).to.equal(1)
      expect(await process.terminate(LONG_MS)).to.deep.equal({ code: 0, signal: null })
      await application.expectConsistent()
      faultFired('F11', held.fired.length, 'pauses past the transaction timeout')
      faultFired('F23', held.fired.length, 'transactions that the broker aborted')
    })
  })
}

async function memberOf(application: ApplicationUnderTest): Promise<unknown> {
  const { members } = await application.admin.describeGroup(application.id)
  return members.map(({ memberId }) => memberId)
}

describe('two processes with one name', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest

  afterEach(async () => {
    await application.dispose()
  })

  it('the newer takes the instance id, the older stops with 78 and names it (F13)', async () => {
    application = await ApplicationUnderTest.create({
      shape: 'counts',
      judged: true,
      bootstrapServers: kafka().bootstrapServers,
      kafka: { 'group.instance.id': 'till-7', 'heartbeat.interval.ms': 300 },
    })
    await application.write(RECORDS)
    const older = await application.start({ instance: 'a' })
    await application.untilCaughtUp()
    const newer = await application.start({ instance: 'b' })
    await application.write(RECORDS)
    expect(await older.untilExit(LONG_MS)).to.deep.equal({ code: 78, signal: null })
    expect(older.lines.join('\n'))
      .to.match(/INSTANCE_ID_IN_USE/)
      .and.to.match(/till-7/)

    await application.write(RECORDS)
    await application.expectExact(LONG_MS)
    expect(newer.hasExited).to.equal(false)
    await application.expectConsistent()
    faultFired('F13', Number(older.hasExited), 'older processes that a newer one replaced')
  })

  it('the newer is refused the state directory of the older, with 78, before it touches anything (F13)', async () => {
    application = await ApplicationUnderTest.create({ shape: 'counts', bootstrapServers: kafka().bootstrapServers })
    await application.write(RECORDS)
    const older = await application.start()
    await application.untilCaughtUp()
    const newer = await application.start()
    expect(await newer.untilExit(LONG_MS)).to.deep.equal({ code: 78, signal: null })
    expect(newer.lines.join('\n')).to.include('STORE_LOCKED').and.to.include(application.stateDir())

    await application.write(RECORDS)
    await application.expectExact(LONG_MS)
    expect(older.hasExited).to.equal(false)
    expect(assignments(older), 'the group noticed nothing').to.equal(1)
    faultFired('F13', Number(newer.hasExited), 'processes refused by the lock of a directory')
  })
})
