import { expect } from 'chai'
import { ProducerCollector } from '../../../src/engine/producer-collector.ts'
import { UnresolvedTopic } from '../../../src/engine/record-collector.ts'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { STAMPED_WHEN_SENT } from '../../../src/stores/changelog.ts'
import { ManualClock } from '../../support/manual-clock.ts'

/** A collector over a producer that only notes what it is given. */
function collecting(clock: ManualClock): { collector: ProducerCollector; appended: (readonly [number, number])[] } {
  const appended: (readonly [partition: number, timestamp: number])[] = []
  const collector = new ProducerCollector(
    {
      register: () => undefined,
      records: {
        topic: topic => ({ topic, limits: { maxMessageBytes: 1, batchBytes: 1 }, partitions: [] }),
        append: (_topic, partition, _key, _value, timestamp) => appended.push([partition, timestamp]),
        appendRaw: () => undefined,
        beginRecord: () => undefined,
        endRecord: () => false,
        rollbackRecord: () => undefined,
      },
    },
    { partitions: new Map([['out', 3]]), maxMessageBytes: new Map([['out', 1_000_000]]) },
    clock,
  )
  return { collector, appended }
}

const KEY = Buffer.from('k')

describe('the collector before a producer', () => {
  it('stamps what is stamped when it is sent by the wall clock, in whole milliseconds', async () => {
    const clock = new ManualClock()
    // The clock for durations stands at a fraction, as the real one nearly always does.
    await clock.advance(0.25)
    const { collector, appended } = collecting(clock)
    collector.send('out', 1, KEY, null, STAMPED_WHEN_SENT, NO_HEADERS)
    collector.send('out', 2, KEY, null, 42, NO_HEADERS)

    expect(appended).to.deep.equal([
      [1, clock.wallClockMs()],
      [2, 42],
    ])
  })

  it('refuses a partition that the topic does not have', () => {
    const { collector } = collecting(new ManualClock())
    expect(() => collector.send('out', 3, KEY, null, 1, NO_HEADERS))
      .to.throw()
      .with.property('code', 'PARTITION_OUT_OF_RANGE')
  })

  it('asks for a topic that nobody has looked up', () => {
    const { collector } = collecting(new ManualClock())
    expect(() => collector.send('other', 0, KEY, null, 1, NO_HEADERS)).to.throw(UnresolvedTopic)
  })
})
