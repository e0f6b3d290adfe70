import { expect } from 'chai'
import { ProducerCollector } from '../../../src/engine/producer-collector.ts'
import { UnresolvedTopic } from '../../../src/engine/record-collector.ts'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import type { RecordSource } from '../../../src/model/record-source.ts'
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
        appendRaw: (_topic, partition, _raw, timestamp) => appended.push([partition, timestamp]),
        beginRecord: () => undefined,
        endRecord: () => false,
        rollbackRecord: () => undefined,
      },
    },
    {
      partitions: new Map([
        ['out', 3],
        ['wide', 5],
      ]),
      maxMessageBytes: new Map([
        ['out', 1_000_000],
        ['wide', 1_000_000],
      ]),
    },
    clock,
  )
  return { collector, appended }
}

const KEY = Buffer.from('k')

/** A record of a batch that holds nothing but the given key and value. */
function recordOf(key: Buffer | null, value: Buffer): RecordSource {
  const batch = Buffer.concat([key ?? Buffer.alloc(0), value])
  return {
    next: () => false,
    offset: 0,
    timestamp: 1,
    hasKey: key !== null,
    hasValue: true,
    key,
    value,
    raw: {
      batch,
      batchView: new DataView(batch.buffer, batch.byteOffset, batch.length),
      bodyAt: 0,
      bodyEnd: batch.length,
      keyAt: 0,
      keyBytes: key?.length ?? -1,
      valueAt: key?.length ?? 0,
      valueBytes: value.length,
    },
    headers: NO_HEADERS,
    position: 1,
  }
}

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

  it('puts a key to the partition of its hash, an empty one too, whether it lies in a batch or not (Java: 275646681)', () => {
    const { collector, appended } = collecting(new ManualClock())
    for (const key of [Buffer.alloc(0), KEY, Buffer.from('customer-17')]) {
      collector.send('wide', undefined, key, null, 1, NO_HEADERS)
      collector.output('wide').sendSource(recordOf(key, Buffer.from('value')), 1)
    }

    const [empty] = appended
    expect(empty?.[0], 'the hash of nothing').to.equal(275_646_681 % 5)
    const pairs = [0, 2, 4].map(at => appended.slice(at, at + 2).map(([partition]) => partition))
    for (const [sent, taken] of pairs) expect(taken).to.equal(sent)
  })

  it('fills one partition after the other with what has no key', () => {
    const { collector, appended } = collecting(new ManualClock())
    const value = Buffer.alloc(200_000)
    for (let at = 0; at < 4; at++) collector.send('out', undefined, null, value, 1, NO_HEADERS)
    for (let at = 0; at < 4; at++) collector.output('out').sendSource(recordOf(null, value), 1)

    expect(appended.map(([partition]) => partition)).to.deep.equal([0, 1, 1, 2, 2, 0, 0, 1])
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
