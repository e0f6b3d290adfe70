import { expect } from 'chai'
import { outputBySending } from '../../../src/engine/record-collector.ts'
import { MillraceError } from '../../../src/model/errors.ts'
import { CurrentRecord } from '../../../src/operators/current-record.ts'
import { headersOf, NO_HEADERS, type RecordHeaders } from '../../../src/model/headers.ts'
import type { RecordSource } from '../../../src/model/record-source.ts'
import { partitionForKey } from '../../../src/model/murmur2.ts'
import { sink, type PartitionerStep, type TopicOutput } from '../../../src/operators/sink.ts'
import { string } from '../../../src/serdes/text.ts'
import { timeWindowed } from '../../../src/serdes/windowed.ts'

/** A record as it was read. */
const SOURCE: RecordSource = {
  next: () => false,
  offset: 0,
  timestamp: 1,
  hasKey: true,
  hasValue: true,
  key: Buffer.from('k'),
  value: Buffer.from('v'),
  raw: undefined,
  headers: headersOf([['read', Buffer.from('1')]]),
  position: 1,
}

function partitionsSent(partitioner: PartitionerStep, dropped: string[] = []): (number | undefined)[] {
  const partitions: (number | undefined)[] = []
  const collector = {
    send: (_topic: string, partition: number | undefined) => {
      partitions.push(partition)
    },
    partitionCount: () => 4,
  }
  const forward = sink({
    name: 'out',
    record: new CurrentRecord(),
    output: { ...collector, output: topic => outputBySending(collector, topic) },
    topic: 't',
    bytes: { keyBytes: () => null, valueBytes: () => null, isSource: false, isWindowOfSource: false },
    partitioner,
    dropped: reason => dropped.push(reason),
  })
  forward('k', 'v', 1, NO_HEADERS)
  return partitions
}

function partitionOf(keyBytes: Uint8Array | null, topic: string | (() => string)): number | undefined {
  let sent: number | undefined
  const collector = {
    send: (_topic: string, partition: number | undefined) => {
      sent = partition
    },
    partitionCount: () => 7,
  }
  sink({
    name: 'out',
    record: new CurrentRecord(),
    output: { ...collector, output: target => outputBySending(collector, target) },
    topic,
    bytes: { keyBytes: () => keyBytes, valueBytes: () => null, isSource: false, isWindowOfSource: false },
    partitioner: undefined,
    windowBytes: 8,
    dropped: () => undefined,
  })('k', 'v', 1, NO_HEADERS)
  return sent
}

function bytesOf(text: unknown): Uint8Array | null {
  return typeof text === 'string' ? Buffer.from(text) : null
}

/** What is sent of a record that a step handed on: `source` when it goes as it was read. */
function sentOf(key: unknown, value: unknown, headers: RecordHeaders): unknown {
  let sent: unknown
  const record = new CurrentRecord()
  record.begin('in', 0, SOURCE)
  const target: TopicOutput = {
    partitionsKnown: 4,
    send: (_, keyBytes, valueBytes, __, sentHeaders) => {
      sent = [keyBytes, valueBytes, [...sentHeaders].map(([name]) => name)]
    },
    sendSource: () => {
      sent = 'source'
    },
  }
  sink({
    name: 'out',
    record,
    output: { output: () => target, send: () => undefined, partitionCount: () => 4 },
    topic: 't',
    bytes: { keyBytes: bytesOf, valueBytes: bytesOf, isSource: true, isWindowOfSource: false },
    partitioner: undefined,
    dropped: () => undefined,
  })(key, value, 1, headers)
  return sent
}

describe('a sink of records as they were read', () => {
  it('sends them as they are when nothing was changed', () => {
    expect(sentOf('k', 'v', SOURCE.headers)).to.equal('source')
  })

  it('sends other headers where a step gave it others', () => {
    const others = headersOf([['given', Buffer.from('2')]])
    expect(sentOf('k', 'v', others)).to.deep.equal([Buffer.from('k'), Buffer.from('v'), ['given']])
  })

  it('sends no key or value where a step took it away', () => {
    expect(sentOf(null, 'v', SOURCE.headers)).to.deep.equal([null, Buffer.from('v'), ['read']])
    expect(sentOf('k', null, SOURCE.headers)).to.deep.equal([Buffer.from('k'), null, ['read']])
  })
})

describe('a sink of windowed keys', () => {
  it('sends every window of a key to the partition of the key, as the JVM does', () => {
    for (const topic of ['t', () => 't']) {
      for (const start of [0, 60_000, 1_700_000_000_000]) {
        const bytes = timeWindowed(string, '1m').serialize(
          { key: 'customer-1', start, end: start + 60_000 },
          { topic: 't', side: 'key', headers: NO_HEADERS },
        )
        expect(partitionOf(bytes, topic)).to.equal(partitionForKey(Buffer.from('customer-1'), 7))
      }
    }
  })

  it("has the partition of the source's own key without the whole key, but for repartition topics", () => {
    const inner = Buffer.from('customer-1')
    const whole = Buffer.concat([inner, Buffer.alloc(8, 1)])
    const record = new CurrentRecord()
    record.begin('in', 0, { ...SOURCE, key: inner })
    const partitionWith = (windowBytes: number): number | undefined => {
      let sent: number | undefined
      const collector = {
        send: (_topic: string, partition: number | undefined) => {
          sent = partition
        },
        partitionCount: () => 7_919,
      }
      sink({
        name: 'out',
        record,
        output: { ...collector, output: target => outputBySending(collector, target) },
        topic: 't',
        bytes: { keyBytes: () => whole, valueBytes: () => null, isSource: false, isWindowOfSource: true },
        partitioner: undefined,
        windowBytes,
        dropped: () => undefined,
      })('k', 'v', 1, NO_HEADERS)
      return sent
    }
    expect(partitionWith(8)).to.equal(partitionForKey(inner, 7_919))
    expect(partitionWith(0)).to.equal(partitionForKey(whole, 7_919))
  })

  it('leaves a record without a key to the default', () => {
    expect(partitionOf(null, 't')).to.equal(undefined)
  })
})

describe('a sink with a partitioner', () => {
  it('sends to the partition chosen, to several, or to the default', () => {
    expect(partitionsSent(() => 2)).to.deep.equal([2])
    expect(partitionsSent(() => [0, 3])).to.deep.equal([0, 3])
    expect(partitionsSent(() => undefined)).to.deep.equal([undefined])
  })

  it('drops and counts a record that goes to no partition', () => {
    const dropped: string[] = []
    expect(partitionsSent(() => [], dropped)).to.deep.equal([])
    expect(dropped).to.deep.equal(['partitionerNone'])
  })

  it('tells the partitioner value, key, topic and partition count', () => {
    let seen: unknown[] = []
    partitionsSent((...given) => {
      seen = given
      return 0
    })
    expect(seen).to.deep.equal(['v', 'k', 't', 4])
  })

  it('refuses a partition that the topic does not have', () => {
    for (const partition of [4, -1, 1.5, 'one', Number.NaN]) {
      expect(() => partitionsSent(() => partition), String(partition))
        .to.throw(MillraceError)
        .with.property('code', 'PARTITION_OUT_OF_RANGE')
    }
  })
})
