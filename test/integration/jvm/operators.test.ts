import { expect } from 'chai'
import { useCaseRoom } from '../cases/case-room.ts'
import { OperatorTwins } from './operator-twins.ts'
import { FOREIGN_KEY_ROWS, operatorInputs } from './operators-input.ts'

const MINUTE_MS = 60_000

describe('every operator beside Kafka Streams on the same input', function () {
  this.timeout(600_000)
  const room = useCaseRoom()
  let twins: OperatorTwins | undefined

  afterEach(async () => {
    await twins?.dispose()
  })

  it('writes the same bytes, times and headers to outputs, changelogs and repartition topics', async () => {
    const both = new OperatorTwins(room())
    twins = both
    await both.createTopics()
    const records = operatorInputs(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 2 * MINUTE_MS)
    await both.write('rates', records.rates)
    await both.write('versions', records.versions)
    await both.start()
    // The versioned table is there in full before the records that are joined with it.
    await both.untilThrough(['versions'], /^$/)
    await both.write('events', records.events)
    await both.write('pairs', records.pairs)
    await both.write('single', records.single)
    for (const [topic, key, value] of FOREIGN_KEY_ROWS) {
      await both.write(topic, [{ key, value, timestamp: Date.now() }])
      await both.untilThrough(['orders', 'customers'], /FK-JOIN.*-topic$/)
    }
    await both.untilThrough(['events', 'pairs', 'single'], /-(?:repartition|topic)$/)
    await both.close()

    expect(await both.topicNames('ours')).to.deep.equal(await both.topicNames('jvm'))
    expect((await both.differences()).join('\n')).to.equal('')
  })
})
