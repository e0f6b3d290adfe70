/** Fetches a topic and produces the same records, with our own client and nothing between: what the client alone can do. */
import { EventEmitter, once } from 'node:events'
import { systemClock } from '../../src/engine/system-clock.ts'
import { prepareCompression } from '../../src/kafka/records/compression.ts'
import { plainFetcher } from '../../test/support/plain-fetcher.ts'
import { connectCluster } from '../../test/support/test-cluster.ts'
import { newProducer } from '../producer.ts'
import { programSettings } from '../contenders/programs.ts'

const RECORDS_PER_PUMP = 1_024

const { bootstrapServers, input, output, commitIntervalMs } = programSettings()
await prepareCompression()
const { cluster } = await connectCluster(bootstrapServers, { clientId: 'raw-loop' })
const topics = await cluster.topics([input, output])
const partitions = (topics.get(input)?.partitions ?? []).map(({ partition }) => ({ topic: input, partition }))
const producer = await newProducer(cluster, { lingerMs: commitIntervalMs })
const woken = new EventEmitter()
const fetcher = plainFetcher(cluster, { onWake: () => woken.emit('wake') })
for (const partition of partitions) fetcher.add(partition, { offset: 0, leaderEpoch: -1 })
const target = producer.records.topic(output)

// Runs until it is ended by a signal.
for (;;) {
  if (!fetcher.hasData) await once(woken, 'wake')
  for (const topicPartition of partitions) {
    const block = fetcher.take(topicPartition)
    if (block === undefined) continue
    const { cursor } = block
    for (let sinceLast = 1; cursor.next(); sinceLast += 1) {
      producer.records.appendRaw(target, topicPartition.partition, cursor.raw, cursor.timestamp)
      if (sinceLast % RECORDS_PER_PUMP === 0) producer.pump()
    }
    producer.pump()
    if (producer.bufferFull) await producer.whenBufferFree()
    await systemClock.yieldToIo()
  }
}
