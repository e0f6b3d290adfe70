import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { KafkaWriter } from '../../support/kafka-writer.ts'
import { kindsOf, reportOf, verify, verifyText } from './verify-room.ts'

const RECORDS = 300

describe('millrace verify on a real cluster', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest

  /** Runs the application over the input, with a kill −9 in its middle. */
  const runThroughKill = async (streams: Readonly<Record<string, string | number | boolean>>): Promise<void> => {
    application = await ApplicationUnderTest.create({
      shape: 'totals',
      bootstrapServers: kafka().bootstrapServers,
      streams,
    })
    await application.write(RECORDS)
    const first = await application.start({ env: { MILLRACE_TEST_CRASH_AT: 'txnOffsetCommit:answered' } })
    await first.untilExit()
    await application.write(RECORDS)
    const second = await application.start()
    await application.untilCaughtUp()
    expect((await second.terminate()).code).to.equal(0)
  }

  afterEach(async () => {
    await application.dispose()
  })

  it('finds a run consistent that went through a kill, with every check made where records carry provenance', async () => {
    await runThroughKill({ 'provenance.headers': true })

    const result = await verify(application.yaml())

    expect(result.verdict, result.text).to.equal('consistent')
    expect(result.code).to.equal(0)
    expect(result.provenance).to.equal(true)
    expect(result.summary.inputRecords).to.be.greaterThan(RECORDS * 4 - 1)
    for (const check of [
      'quiescence',
      'readers',
      'prefixFunction',
      'tiling',
      'atomicity',
      'state',
      'fencing',
    ] as const) {
      expect(reportOf(result, check).state, `${check}\n${result.text}`).to.equal('passed')
    }
  })

  it('shows people a table', async () => {
    await runThroughKill({ 'provenance.headers': true })
    const { code, out } = await verifyText(application.yaml())
    expect(code, out).to.equal(0)
  })

  it('calls a run violated into whose output a record was written by hand', async () => {
    await runThroughKill({ 'provenance.headers': true })
    const writer = await KafkaWriter.open(kafka().bootstrapServers)
    await writer.write(application.output, [{ key: 'a1', value: '{"count":1,"sum":7}' }])

    const result = await verify(application.yaml())

    expect(result.verdict, result.text).to.equal('violated')
    expect(result.code).to.equal(65)
    expect(kindsOf(result, 'prefixFunction')).to.deep.equal(['unexplained'])
  })
})
