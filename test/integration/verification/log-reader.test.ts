import { expect } from 'chai'
import { systemClock } from '../../../src/engine/system-clock.ts'
import { LogReader } from '../../../src/verification/log-reader.ts'
import { type ObservedPartition, type ObservedRecord, visible } from '../../../src/verification/observed-log.ts'
import { uniqueName, useBroker } from '../../support/broker.ts'
import { adminOf } from '../../support/kafka-client.ts'
import { readTopic, type ReadRecord } from '../../support/kafka-reader.ts'
import { KafkaWriter, type RecordToWrite } from '../../support/kafka-writer.ts'

const PARTITIONS = 2
const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

/** Records with and without keys, values and headers, of times that go back. */
function records(round: number): RecordToWrite[] {
  return Array.from({ length: 12 }, (_, at) => ({
    partition: at % PARTITIONS,
    timestamp: 1_700_000_000_000 + round * 1_000 - at * 7,
    key: at % 5 === 4 ? null : `key-${String(at % 3)}`,
    value: at % 7 === 6 ? null : `${'value '.repeat(at * 9)}${String(round)}`,
    headers:
      at % 4 === 0 ? [] : [['one', 'first'] as const, ['one', at % 2 === 0 ? null : `second-${String(at)}`] as const],
  }))
}

/** What both readers have to say of a record. */
function told(record: ObservedRecord | ReadRecord): unknown {
  const { partition, offset, timestamp, key, value, headers } = record
  return {
    place: `${String(partition)}@${String(offset)}`,
    timestamp,
    key: key?.toString('hex'),
    value: value?.toString('hex'),
    headers: Array.from(headers, ([name, held]) => [name, held === null ? null : Buffer.from(held).toString('hex')]),
  }
}

function allOf(
  logs: readonly ObservedPartition[],
  of: (log: ObservedPartition) => readonly ObservedRecord[],
): unknown[] {
  return logs.flatMap(log => of(log).map(told))
}

describe('the log reader of verification', function () {
  this.timeout(180_000)
  const kafka = useBroker('tv2')

  it('finds what the Java consumer finds, committed and uncommitted, whatever the compression', async () => {
    const topic = uniqueName('log')
    const servers = kafka().bootstrapServers
    const { admin, cluster } = await adminOf(kafka())
    try {
      await admin.createTopics([{ name: topic, partitions: PARTITIONS, replicationFactor: 1, configs: {} }])
      for (const [round, compression] of COMPRESSIONS.entries()) {
        const writer = await KafkaWriter.open(servers, {
          'transactional.id': `${topic}-${compression}`,
          'compression.type': compression,
        })
        await writer.transaction(topic, records(round * 2), 'commit')
        await writer.transaction(topic, records(round * 2 + 1), 'abort')
        await writer.close()
      }

      const logs = await new LogReader({ cluster, admin, clock: systemClock, recordsMax: 10_000 }).read(topic)

      const committed = await readTopic(servers, topic, 'read_committed')
      const uncommitted = await readTopic(servers, topic, 'read_uncommitted')
      expect(committed).to.have.length(COMPRESSIONS.length * 12)
      expect(uncommitted).to.have.length(COMPRESSIONS.length * 24)
      expect(allOf(logs, visible)).to.deep.equal(byPlace(committed))
      expect(allOf(logs, log => log.records)).to.deep.equal(byPlace(uncommitted))
      expect(logs.map(({ markers }) => markers.length)).to.deep.equal([
        COMPRESSIONS.length * 2,
        COMPRESSIONS.length * 2,
      ])
      for (const log of logs) expect(log.shownCommitted).to.deep.equal(visible(log).map(({ offset }) => offset))
    } finally {
      await cluster.close()
    }
  })
})

function byPlace(found: readonly ReadRecord[]): unknown[] {
  return found.toSorted((a, b) => a.partition - b.partition || a.offset - b.offset).map(told)
}
