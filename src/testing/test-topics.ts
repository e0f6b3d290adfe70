import { parseDurationMs, type Duration, type TimestampMs } from '../model/duration.ts'
import { MillraceError } from '../model/errors.ts'
import { headersOf, NO_HEADERS, type RecordHeader, type RecordHeaders } from '../model/headers.ts'
import type { StreamRecord } from '../model/record.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { HeldRecord } from '../model/held-record-source.ts'
import type { SentRecord } from './memory-collector.ts'

/** A record to pipe in. Kafka Streams: `TestRecord`. */
export interface TestRecord<K, V> {
  /** The key. */
  key: K
  /** The value; null is a tombstone. */
  value: V
  /** Event time in ms. @default the topic's clock: 0, or as set by `advanceTime` */
  timestamp?: TimestampMs
  /** Headers in order. @default none */
  headers?: readonly (RecordHeader | readonly [name: string, value: string | null])[]
}

/** A topic to write to. Kafka Streams: `TestInputTopic`. */
export interface TestInput<K, V> {
  /** Writes one record and processes all that follows from it. @throws MillraceError when a policy says stop. Kafka Streams: `pipeInput`. */
  pipe(key: K | null, value: V | null, timestamp?: TimestampMs): void
  /** The same for a record with headers. Kafka Streams: `pipeInput(TestRecord)`. */
  pipeRecord(record: TestRecord<K | null, V | null>): void
  /** Writes raw bytes, to test poison. Kafka Streams: none. */
  pipeRaw(key: Uint8Array | null, value: Uint8Array | null, timestamp?: TimestampMs): void
  /** Moves the clock that stamps records without a timestamp. Kafka Streams: `advanceTime`. */
  advanceTime(by: Duration): void
}

/** A topic to read, in the order of sends, committed or not. Kafka Streams: `TestOutputTopic`. */
export interface TestOutput<K, V> {
  /** Takes the next record; `undefined` when there is none. Kafka Streams: `readRecord`. */
  read(): StreamRecord<K | null, V | null> | undefined
  /** Takes all records. Kafka Streams: `readRecordsToList`. */
  readAll(): StreamRecord<K | null, V | null>[]
  /** Takes all records as `[key, value]`. Kafka Streams: `readKeyValuesToList`. */
  readKeyValues(): [key: K | null, value: V | null][]
  /** Takes all records and keeps the last value per key, by the key's text. Kafka Streams: `readKeyValuesToMap`. */
  readMap(): Map<K, V | null>
  /** Whether nothing is left. Kafka Streams: `isEmpty`. */
  readonly isEmpty: boolean
}

/** Serdes of a topic or store in a test; they give the types and must equal the topology's. */
export interface TestSerdes<KS extends AnySerde, VS extends AnySerde> {
  /** Serde of the keys. */
  key: KS
  /** Serde of the values. */
  value: VS
}

/** An input whose types the driver vouches for. */
export class InputTopic implements TestInput<unknown, unknown> {
  readonly #topic: string
  readonly #serdes: TestSerdes<AnySerde, AnySerde>
  readonly #pipe: (topic: string, record: HeldRecord) => void
  #nowMs = 0

  constructor(
    topic: string,
    serdes: TestSerdes<AnySerde, AnySerde>,
    pipe: (topic: string, record: HeldRecord) => void,
  ) {
    this.#topic = topic
    this.#serdes = serdes
    this.#pipe = pipe
  }

  pipe(key: unknown, value: unknown, timestamp?: TimestampMs): void {
    this.pipeRecord(timestamp === undefined ? { key, value } : { key, value, timestamp })
  }

  pipeRecord({ key, value, timestamp = this.#nowMs, headers = [] }: TestRecord<unknown, unknown>): void {
    const list = headersOf(headers.map(([name, held]) => [name, typeof held === 'string' ? Buffer.from(held) : held]))
    this.#pipe(this.#topic, {
      key: this.#serialize('key', key, list),
      value: this.#serialize('value', value, list),
      timestamp,
      headers: list,
    })
  }

  pipeRaw(key: Uint8Array | null, value: Uint8Array | null, timestamp: TimestampMs = this.#nowMs): void {
    this.#pipe(this.#topic, { key: copyOf(key), value: copyOf(value), timestamp, headers: NO_HEADERS })
  }

  advanceTime(by: Duration): void {
    this.#nowMs += durationMs(by)
  }

  #serialize(side: 'key' | 'value', value: unknown, headers: RecordHeaders): Buffer | null {
    if (value === null || value === undefined) return null
    return copyOf(erasedSerde(this.#serdes[side]).serialize(value, { topic: this.#topic, side, headers }))
  }
}

/** Gives the records of one topic that were sent and not read yet. */
export interface OutputReader {
  next(): SentRecord | undefined
  readonly isEmpty: boolean
}

/** An output whose types the driver vouches for. */
export class OutputTopic implements TestOutput<unknown, unknown> {
  readonly #topic: string
  readonly #serdes: TestSerdes<AnySerde, AnySerde>
  readonly #reader: OutputReader

  constructor(topic: string, serdes: TestSerdes<AnySerde, AnySerde>, reader: OutputReader) {
    this.#topic = topic
    this.#serdes = serdes
    this.#reader = reader
  }

  get isEmpty(): boolean {
    return this.#reader.isEmpty
  }

  read(): StreamRecord<unknown, unknown> | undefined {
    const record = this.#reader.next()
    if (record === undefined) return undefined
    const { timestamp, headers } = record
    return {
      key: this.#deserialize('key', record.key, headers),
      value: this.#deserialize('value', record.value, headers),
      timestamp,
      headers,
    }
  }

  readAll(): StreamRecord<unknown, unknown>[] {
    const records: StreamRecord<unknown, unknown>[] = []
    for (let record = this.read(); record !== undefined; record = this.read()) records.push(record)
    return records
  }

  readKeyValues(): [key: unknown, value: unknown][] {
    return this.readAll().map(({ key, value }) => [key, value])
  }

  readMap(): Map<unknown, unknown> {
    const byText = new Map<string, { readonly key: unknown; readonly value: unknown }>()
    for (const { key, value } of this.readAll()) {
      const text = JSON.stringify(key, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part))
      byText.set(text, { key: byText.get(text)?.key ?? key, value })
    }
    return new Map([...byText.values()].map(({ key, value }) => [key, value]))
  }

  #deserialize(side: 'key' | 'value', bytes: Buffer | null, headers: RecordHeaders): unknown {
    return bytes === null
      ? null
      : erasedSerde(this.#serdes[side]).deserialize(bytes, { topic: this.#topic, side, headers })
  }
}

/** Milliseconds of a duration. @throws MillraceError `USAGE` when it is none */
export function durationMs(duration: Duration): number {
  const ms = parseDurationMs(duration)
  if (ms === undefined) throw new MillraceError('USAGE', { what: `${String(duration)} is no duration.` })
  return ms
}

function copyOf(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes)
}
