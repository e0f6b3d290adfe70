import { expect } from 'chai'
import { NO_HEADERS } from '../../../src/model/headers.ts'
import { TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { RecordBatchWriter } from '../../../src/kafka/records/record-batch-writer.ts'
import { LogReader, type LogReaderOptions } from '../../../src/verification/log-reader.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const TOPIC = 'compacted'
const END = 2

/** A batch of one record, which stands at an offset. */
function batchAt(offset: number): Buffer {
  const writer = new RecordBatchWriter({ initialBytes: 256, maxBytes: 1_024 })
  writer.append(Buffer.from('k'), Buffer.from(String(offset)), 1, NO_HEADERS)
  const batch = writer.seal('none')
  batch.stamp({ producerId: -1, epoch: -1, baseSequence: -1, transactional: false })
  const bytes = Buffer.from(batch.bytes)
  bytes.writeBigInt64BE(BigInt(offset), 0)
  return bytes
}

/** A log of which the cleaner takes the first record after so many fetches. */
function cleanedAfter(fetches: number, clock: ManualClock): LogReaderOptions {
  let asked = 0
  const send = (
    _api: string,
    { topics }: { topics: { partitions: { fetchOffset: number }[] }[] },
  ): Promise<unknown> => {
    asked += 1
    const from = topics[0]?.partitions[0]?.fetchOffset ?? 0
    const offsets = (asked > fetches ? [1] : [0, 1]).filter(offset => offset >= from)
    const records = Buffer.concat(offsets.map(batchAt))
    const partition = { partition: 0, errorCode: 0, records, abortedTransactions: [] }
    return Promise.resolve({ errorCode: 0, responses: [{ topic: TOPIC, partitions: [partition] }] })
  }
  const cluster = {
    topic: () => Promise.resolve({ topicId: Buffer.alloc(16), partitions: [{ partition: 0 }] }),
    leaderOf: () => ({ nodeId: 1 }),
    connection: () => Promise.resolve({ send }),
    refresh: () => Promise.resolve(),
  }
  const admin = {
    listOffsets: (_partitions: unknown, at: string) =>
      Promise.resolve(new TopicPartitionMap([[{ topic: TOPIC, partition: 0 }, at === 'earliest' ? 0 : END]])),
    describeTopicConfigs: () => Promise.resolve(new Map([[TOPIC, new Map([['cleanup.policy', 'compact']])]])),
  }
  return { cluster, admin, clock, recordsMax: 100 } as unknown as LogReaderOptions
}

describe('the reader of whole logs', () => {
  for (const fetches of [0, 1, 2, 3]) {
    it(`shows one moment of a log that is cleaned after ${String(fetches)} fetches`, async () => {
      const clock = new ManualClock()
      const reading = new LogReader(cleanedAfter(fetches, clock)).read(TOPIC)
      for (let turn = 0; turn < 20; turn++) await clock.advance(1_000)
      const [log] = await reading
      expect(log?.records.map(({ offset }) => offset)).to.deep.equal(fetches < 3 ? [1] : [0, 1])
      expect(log?.shownCommitted).to.deep.equal(log?.records.map(({ offset }) => offset))
    })
  }
})
