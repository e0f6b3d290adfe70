import { NO_HEADERS } from '../src/model/headers.ts'
import { partitionForKey } from '../src/model/murmur2.ts'
import type { Admin } from '../src/kafka/admin/admin.ts'
import type { Cluster } from '../src/kafka/cluster/cluster.ts'
import { createTopic } from '../test/support/test-cluster.ts'
import { newProducer } from './producer.ts'
import { Dice } from './dice.ts'
import type { Scenario } from './scenario.ts'

/** What a filled topic holds. */
export interface FilledTopic {
  readonly topic: string
  readonly records: number
  /** What the JSON workload has to come to; zeros for other contents. */
  readonly paid: { readonly records: number; readonly net: number }
  /** Bytes of all values. */
  readonly valueBytes: number
}

type Content = 'text' | 'json' | 'table'

interface Shape {
  readonly content: Content
  readonly records: number
  readonly partitions: number
  readonly valueBytes: number
  readonly keys: number
  readonly brokers: number
}

/** As a Java producer writes them by default. */
const INPUT_BATCH_BYTES = 16_384
/** Event time: ten records to a millisecond, so that a window of 10 s gets 100,000. */
const RECORDS_PER_MS = 10
/** Rows of a table are older than everything that looks them up. */
const TABLE_AGE_MS = 3_600_000
const TABLE_VALUE_BYTES = 20
const TIMEOUT_MS = 60_000
const PUMP_EVERY_RECORDS = 1_000
const VALUES = 4_096

/** Input topics, each filled once and kept for all scenarios that can share it. */
export class Inputs {
  readonly #admin: Admin
  readonly #cluster: Cluster
  readonly #filled = new Map<string, { readonly shape: Shape; readonly done: Promise<FilledTopic> }>()

  constructor(cluster: Cluster, admin: Admin) {
    this.#cluster = cluster
    this.#admin = admin
  }

  /** The input of a workload. */
  main(scenario: Scenario, records: number): Promise<FilledTopic> {
    const { workload, partitions, valueBytes, keys, brokers } = scenario
    return this.#fill({
      content: workload === 'json' ? 'json' : 'text',
      records,
      partitions,
      valueBytes,
      keys,
      brokers,
    })
  }

  /** The table that the stream–table join reads: every key once. */
  table({ partitions, keys, brokers }: Scenario): Promise<FilledTopic> {
    return this.#fill({ content: 'table', records: keys, partitions, valueBytes: TABLE_VALUE_BYTES, keys, brokers })
  }

  /** Removes what only scenarios with other partitions, sizes or keys can use: the disk is not endless. */
  async keepOnly({ partitions, valueBytes, keys }: Scenario): Promise<void> {
    for (const [topic, { shape }] of Array.from(this.#filled)) {
      if (shape.partitions === partitions && shape.valueBytes === valueBytes && shape.keys === keys) continue
      this.#filled.delete(topic)
      await this.#admin.deleteTopics([topic])
    }
  }

  #fill(shape: Shape): Promise<FilledTopic> {
    const { content, records, partitions, valueBytes, keys } = shape
    const topic = ['in', content, records, partitions, valueBytes, keys].join('-')
    let filled = this.#filled.get(topic)
    if (filled === undefined) {
      filled = { shape, done: this.#write(topic, shape) }
      this.#filled.set(topic, filled)
    }
    return filled.done
  }

  async #write(topic: string, shape: Shape): Promise<FilledTopic> {
    const { records, partitions, brokers } = shape
    await createTopic(this.#admin, topic, { partitions, replicationFactor: brokers })
    const producer = await newProducer(this.#cluster, { batchSizeBytes: INPUT_BATCH_BYTES })
    const generator = new RecordGenerator(shape)
    try {
      const target = producer.records.topic(topic)
      for (let i = 0; i < records; i += 1) {
        generator.next(i)
        const { key, value, timestamp } = generator
        producer.records.append(target, partitionForKey(key, partitions), key, value, timestamp, NO_HEADERS)
        if (i % PUMP_EVERY_RECORDS !== 0) continue
        producer.pump()
        if (producer.bufferFull) await producer.whenBufferFree()
      }
      await producer.flush(TIMEOUT_MS)
    } finally {
      await producer.close(0)
    }
    const { paidRecords, paidNet, valueBytes } = generator
    return { topic, records, paid: { records: paidRecords, net: paidNet }, valueBytes }
  }
}

/** Makes one record after the other, the same ones in every run. */
class RecordGenerator {
  key: Buffer = Buffer.alloc(0)
  value: Buffer = Buffer.alloc(0)
  timestamp = 0
  paidRecords = 0
  paidNet = 0
  valueBytes = 0
  readonly #shape: Shape
  readonly #dice = new Dice(1)
  readonly #startMs: number
  readonly #texts: readonly string[]
  readonly #values: readonly Buffer[]

  constructor(shape: Shape) {
    const { content, valueBytes } = shape
    this.#shape = shape
    this.#startMs = Date.now() - (content === 'table' ? TABLE_AGE_MS : 0)
    this.#texts = Array.from({ length: valueBytes > 10_000 ? 64 : VALUES }, () => this.#dice.text(valueBytes))
    this.#values = this.#texts.map(text => Buffer.from(text))
  }

  next(index: number): void {
    const { content, keys } = this.#shape
    this.timestamp = this.#startMs + Math.floor(index / RECORDS_PER_MS)
    this.key = Buffer.from(keyOf(content === 'table' ? index : this.#dice.below(keys)))
    this.value = content === 'json' ? this.#order(index) : (this.#values[index % this.#values.length] ?? this.value)
    this.valueBytes += this.value.length
  }

  /** Every second order is paid; a note fills it up to about the size asked for. */
  #order(index: number): Buffer {
    const isPaid = this.#dice.below(2) === 0
    const cents = 100 + this.#dice.below(100_000)
    const fee = this.#dice.below(100)
    if (isPaid) {
      this.paidRecords += 1
      this.paidNet += cents - fee
    }
    const order = {
      id: `o${String(index).padStart(9, '0')}`,
      customer: `c${String(this.#dice.below(100_000)).padStart(5, '0')}`,
      status: isPaid ? 'paid' : 'open',
      cents,
      fee,
    }
    const text = JSON.stringify(order)
    const note = this.#texts[index % this.#texts.length] ?? ''
    const room = this.#shape.valueBytes - text.length - ',"note":""'.length
    return Buffer.from(room > 0 ? JSON.stringify({ ...order, note: note.slice(0, room) }) : text)
  }
}

/** A key by its number, always 16 bytes. */
export function keyOf(number: number): string {
  return `key-${String(number).padStart(12, '0')}`
}
