/** Consume, transform, produce with kafkajs, a transaction per batch, as its documentation shows it. */
import { Kafka, logLevel, type EachBatchPayload, type Message } from 'kafkajs'
import { programSettings } from '../contenders/programs.ts'

interface Order {
  readonly id: string
  readonly customer: string
  readonly status: string
  readonly cents: number
  readonly fee: number
}

const { bootstrapServers, application, input, output, workload } = programSettings()
const kafka = new Kafka({ brokers: bootstrapServers.split(','), clientId: 'kafkajs-loop', logLevel: logLevel.ERROR })
// All that comes of a partition goes on in one batch, which the broker takes up to a megabyte of.
const FETCH_BYTES_MAX = 524_288
const consumer = kafka.consumer({
  groupId: application,
  readUncommitted: false,
  maxBytesPerPartition: FETCH_BYTES_MAX,
})
const producer = kafka.producer({ transactionalId: application, idempotent: true, maxInFlightRequests: 1 })

function messagesOf({ batch }: EachBatchPayload): Message[] {
  if (workload === 'copy') return batch.messages.map(({ key, value, timestamp }) => ({ key, value, timestamp }))
  return batch.messages.flatMap(({ key, value, timestamp }) => {
    const order: unknown = JSON.parse(value?.toString() ?? 'null')
    if (!isOrder(order) || order.status !== 'paid') return []
    const { id, customer, cents, fee } = order
    return [{ key, value: JSON.stringify({ id, customer, net: cents - fee }), timestamp }]
  })
}

function isOrder(value: unknown): value is Order {
  return typeof value === 'object' && value !== null && 'status' in value
}

consumer.on(consumer.events.CRASH, ({ payload }) => {
  if (!payload.restart) process.exit(1)
})
await producer.connect()
await consumer.connect()
await consumer.subscribe({ topic: input, fromBeginning: true })
await consumer.run({
  autoCommit: false,
  eachBatch: async payload => {
    const { topic, partition, lastOffset } = { ...payload.batch, lastOffset: payload.batch.lastOffset() }
    const transaction = await producer.transaction()
    try {
      await transaction.send({ topic: output, messages: messagesOf(payload) })
      const offset = String(Number(lastOffset) + 1)
      await transaction.sendOffsets({
        consumerGroupId: application,
        topics: [{ topic, partitions: [{ partition, offset }] }],
      })
      await transaction.commit()
    } catch (error) {
      await transaction.abort()
      throw error
    }
    payload.resolveOffset(lastOffset)
    await payload.heartbeat()
  },
})
