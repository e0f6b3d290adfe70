import { expect } from 'chai'
import { ApplicationUnderTest } from '../../support/application.ts'
import { useBroker } from '../../support/broker.ts'
import { eventually } from '../../support/condition.ts'
import { KafkaProxy } from '../../support/kafka-proxy.ts'
import { readTopicInProcess } from '../../support/kafka-reader.ts'

const RECORDS = 60
const LONG_MS = 60_000

describe('kill −9 without exactly-once', function () {
  this.timeout(120_000)
  const kafka = useBroker('tv2')
  let application: ApplicationUnderTest

  afterEach(async () => {
    await application.dispose()
  })

  const untilOutputs = async (count: number): Promise<void> => {
    const { bootstrapServers } = kafka()
    await eventually(
      `${String(count)} outputs`,
      async () => (await readTopicInProcess(bootstrapServers, application.output)).length >= count,
      LONG_MS,
    )
  }

  it('repeats under at_least_once what was not committed, and loses nothing', async () => {
    application = await ApplicationUnderTest.create({
      shape: 'copy',
      bootstrapServers: kafka().bootstrapServers,
      streams: { 'processing.guarantee': 'at_least_once', 'commit.interval.ms': 600_000 },
    })
    await application.write(RECORDS)
    const killed = await application.start()
    await untilOutputs(RECORDS)
    await killed.kill()

    const restarted = await application.start()
    await untilOutputs(2 * RECORDS)
    // Its last commit, as it stops, is the first.
    expect(await restarted.terminate(LONG_MS)).to.deep.equal({ code: 0, signal: null })
    expect(await application.lag()).to.equal(0)
    expect(await application.account()).to.deep.equal({
      records: RECORDS,
      outputs: 2 * RECORDS,
      duplicates: RECORDS,
      lost: 0,
      wrong: [],
    })
  })

  it('loses under at_most_once what was given away and not written, and repeats nothing', async () => {
    const proxy = await KafkaProxy.start(kafka())
    try {
      application = await ApplicationUnderTest.create({
        shape: 'copy',
        bootstrapServers: kafka().bootstrapServers,
        streams: { 'processing.guarantee': 'at_most_once' },
      })
      await application.write(RECORDS)
      const killed = await application.start({ bootstrapServers: proxy.bootstrapServers })
      await untilOutputs(RECORDS)
      await application.untilCaughtUp()
      // Offsets go first: at the first Produce of the next records they are committed already.
      proxy.rule({
        api: 'Produce',
        direction: 'request',
        action: [{ type: 'call', run: () => killed.signal('SIGKILL') }, { type: 'drop' }],
      })
      await application.write(RECORDS)
      expect(await killed.untilExit(LONG_MS)).to.deep.equal({ code: null, signal: 'SIGKILL' })

      const restarted = await application.start()
      await application.write(RECORDS)
      await application.untilCaughtUp()
      expect(await restarted.terminate(LONG_MS)).to.deep.equal({ code: 0, signal: null })
      const { records, outputs, duplicates, lost, wrong } = await application.account()
      expect({ records, duplicates, wrong }).to.deep.equal({ records: 3 * RECORDS, duplicates: 0, wrong: [] })
      expect(lost).to.be.within(1, RECORDS)
      expect(outputs).to.equal(records - lost)
    } finally {
      await proxy.stop()
    }
  })

  it('refuses state under at_most_once before anything is started', async () => {
    application = await ApplicationUnderTest.create({
      shape: 'counts',
      bootstrapServers: kafka().bootstrapServers,
      streams: { 'processing.guarantee': 'at_most_once' },
    })
    const refused = await application.start()
    expect(await refused.untilExit(LONG_MS)).to.deep.equal({ code: 78, signal: null })
    expect(refused.lines.join('\n')).to.match(/"counts" keeps state, which at_most_once cannot/)
  })
})
