import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { type BrokerKind, TRANSACTION_BROKERS, useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { faultFired } from '../../support/fault-count.ts'
import { KafkaProxy, type ProxyAction, type RuleHandle } from '../../support/kafka-proxy.ts'
import type { MillraceProcess } from '../../support/millrace-process.ts'

/** Also the deadline of each step of a commit; a healthy broker answers sooner, on a loaded machine too. */
const REQUEST_TIMEOUT_MS = 2_000
const RECORDS = 40
const READ_BACK = 'a commit had no answer; the group was asked what became of it'

/** The answers that get lost, each once; the resend or the question after it must find out what had happened. */
const LOST_ANSWERS = [
  { api: 'AddPartitionsToTxn' },
  { api: 'Produce' },
  { api: 'AddOffsetsToTxn' },
  { api: 'TxnOffsetCommit' },
  { api: 'EndTxn' },
] as const

function isSent(api: string, kind: BrokerKind): boolean {
  return kind !== 'tv2' || api !== 'AddOffsetsToTxn'
}

describe('answers of a transaction', function () {
  this.timeout(120_000)

  for (const kind of TRANSACTION_BROKERS) {
    describe(`on a broker of kind ${kind}`, () => {
      const kafka = useBroker(kind)
      let proxy: KafkaProxy
      let application: ApplicationUnderTest
      let process: MillraceProcess
      const rules: RuleHandle[] = []

      before(async () => {
        const { bootstrapServers } = kafka()
        proxy = await KafkaProxy.start({ bootstrapServers })
        application = await ApplicationUnderTest.create({
          shape: 'counts',
          judged: true,
          bootstrapServers,
          kafka: {
            'request.timeout.ms': REQUEST_TIMEOUT_MS,
            'delivery.timeout.ms': 20_000,
            'transaction.timeout.ms': 20_000,
          },
        })
        // The first answer that is lost: the id is asked for again.
        const lost = proxy.rule({ api: 'InitProducerId', direction: 'response', action: { type: 'reset' }, times: 1 })
        await application.write(RECORDS)
        process = await application.start({ bootstrapServers: proxy.bootstrapServers })
        await application.expectExactSoFar()
        expect(lost.fired, 'lost answers to InitProducerId').to.have.lengthOf(1)
      })

      afterEach(() => {
        for (const rule of rules.splice(0)) {
          rule.remove()
          rule.release()
        }
      })

      after(async () => {
        await application.dispose()
        await proxy.stop()
      })

      const endTxn = (
        direction: 'request' | 'response',
        action: ProxyAction<'EndTxn'>,
        times = 1,
      ): RuleHandle<'EndTxn'> => {
        const rule = proxy.rule({
          api: 'EndTxn',
          direction,
          action,
          times,
          when: ({ request }) => request.committed,
        })
        rules.push(rule as unknown as RuleHandle)
        return rule
      }

      const outcomesReadBack = (): unknown[] =>
        process.log.filter(({ msg }) => msg === READ_BACK).map(({ outcome }) => outcome)

      /** Nothing was given up for it: the same tasks, with their state, went on. */
      const expectNothingDropped = (): void => {
        expect(process.hasExited).to.equal(false)
        const assignments = process.log.filter(({ msg }) => msg === 'assignment applied')
        expect(assignments, 'assignments in the life of the process').to.have.lengthOf(1)
      }

      for (const { api } of LOST_ANSWERS.filter(lost => isSent(lost.api, kind))) {
        it(`go on exactly after a lost answer to ${api} (I10, case 18, case 30)`, async () => {
          const rule = proxy.rule({ api, direction: 'response', action: { type: 'reset' }, times: 1 })
          const readBefore = outcomesReadBack().length
          await application.write(RECORDS)
          await application.expectExactSoFar()
          expect(rule.fired, 'lost answers').to.have.lengthOf(1)
          expectNothingDropped()
          // With transaction.version 2 the same EndTxn is sent again and answered; else the metadata have to tell.
          const asked = api === 'EndTxn' && kind !== 'tv2' ? ['committed'] : []
          await eventually('the log has it', () => outcomesReadBack().length >= readBefore + asked.length)
          expect(outcomesReadBack().slice(readBefore)).to.deep.equal(asked)
        })
      }

      it('are read back from the group when that to EndTxn comes too late for its step (I10)', async () => {
        const readBefore = outcomesReadBack().length
        const held = endTxn('response', { type: 'hold' })
        await application.write(RECORDS)
        await held.waitHeld()
        await eventually('the outcome is read back', () => outcomesReadBack().length > readBefore, 30_000)
        held.release()
        await application.expectExactSoFar()
        expect(outcomesReadBack().slice(readBefore)).to.deep.equal(['committed'])
        expectNothingDropped()
      })

      it('are read back when EndTxn never arrives: the transaction is done again (I10)', async () => {
        const readBefore = outcomesReadBack().length
        // Each: at the very end of its step the request may be sent once more, and would commit.
        const lost = endTxn('request', { type: 'drop' }, Number.POSITIVE_INFINITY)
        const offsets = proxy.rule({ api: 'TxnOffsetCommit', direction: 'request', action: { type: 'hold' }, nth: 2 })
        rules.push(offsets as unknown as RuleHandle)
        await application.write(RECORDS)
        await eventually('the outcome is read back', () => outcomesReadBack().length > readBefore, 30_000)
        // The commit that does it again is let through as a whole.
        await offsets.waitHeld(1, 30_000)
        lost.remove()
        offsets.release()
        await application.expectExactSoFar()
        expect(outcomesReadBack().slice(readBefore)).to.deep.equal(['aborted'])
        expectNothingDropped()
      })

      it('are not hurt by an EndTxn that arrives in the middle of the next transaction (I9, F18)', async () => {
        // Each: at the very end of its step the request may be sent once more, and would commit.
        const late = endTxn('request', { type: 'hold' }, Number.POSITIVE_INFINITY)
        const offsets = proxy.rule({ api: 'TxnOffsetCommit', direction: 'request', action: { type: 'hold' }, nth: 2 })
        rules.push(offsets as unknown as RuleHandle)
        const visible = (await application.readOutput()).length
        await application.write(RECORDS)
        // Its outcome was asked for, it was found aborted, and its records are written again but not committed.
        await offsets.waitHeld(1, 30_000)
        const [exchange] = late.fired
        if (exchange === undefined) throw new Error('no EndTxn was held')
        const answer = await proxy.resend(exchange)
        expect(answer.errorCode, 'the late EndTxn is refused').not.to.equal(0)
        expect((await application.readOutput()).length, 'the open transaction stays invisible').to.equal(visible)
        late.remove()
        offsets.release()
        await application.expectExactSoFar()
        expectNothingDropped()
        faultFired('F18', late.fired.length, 'late EndTxn delivered into the next transaction')
      })

      it('leave the whole account exact, with nothing open (I1–I4)', async () => {
        await application.expectExact()
        expect(await process.terminate()).to.deep.equal({ code: 0, signal: null })
        await application.expectNothingOpen()
        expect(proxy.failures).to.deep.equal([])
        await application.expectConsistent()
      })
    })
  }
})
