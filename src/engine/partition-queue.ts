import { MillraceError, reasonOf } from '../model/errors.ts'
import type { RecordHeaders } from '../model/headers.ts'
import type { RawRecord, RecordSource } from '../model/record-source.ts'
import type { CurrentRecord } from '../operators/current-record.ts'
import type { Forward } from '../operators/forward.ts'
import { consumesBytes } from '../serdes/consumed-bytes.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import { JsonFields } from '../serdes/json-fields.ts'
import { readJsonFields } from '../serdes/json.ts'
import { isNullable, withoutNull } from '../serdes/nullable.ts'
import type { SerdeContext } from '../serdes/serde.ts'
import { TextInPlace } from '../serdes/text-in-place.ts'
import { string, textWithin } from '../serdes/text.ts'
import type { SourceDefinition } from '../topology/graph-node.ts'
import type { ChainEntry } from '../topology/compile.ts'
import type { SideReading } from '../topology/side-flow.ts'
import type { StateStore } from '../stores/state-store.ts'
import { KeyLookAhead } from './key-look-ahead.ts'

/** Blocks waiting behind the present one; the fetcher hands over the next only when one is through, so more is a fault. */
const BLOCKS_MAX = 1_024

/** Stands for a key or value that nobody reads: whoever writes it takes the bytes of the current record. */
const UNREAD: unknown = Object.freeze({ unread: true })

/** What became of the record at the head: ready to be processed, to be passed over, or nothing is there. */
export type Head = 'ready' | 'skip' | 'empty'

/** Records of one source partition of a task, with the head decoded. Kafka Streams: `RecordQueue`. */
export class PartitionQueue {
  readonly topic: string
  readonly partition: number
  readonly source: SourceDefinition
  readonly sourceName: string
  readonly forward: Forward
  readonly #reading: { readonly key: SideReading; readonly value: SideReading }
  readonly #rawKey: boolean
  readonly #rawValue: boolean
  /** Whether the serdes keep nothing of the bytes they are given. */
  readonly #consumes: { readonly key: boolean; readonly value: boolean }
  /** In place of values of which only some fields are read. */
  readonly #fields: JsonFields | undefined
  /** In place of values that are only put beside other texts. */
  readonly #text: TextInPlace | undefined
  /** Whether they are those of text, which is decoded where it lies. */
  readonly #isText: { readonly key: boolean; readonly value: boolean }
  readonly #keySerde: ErasedSerde
  readonly #valueSerde: ErasedSerde
  readonly #refusesNull: { readonly key: boolean; readonly value: boolean }
  readonly #keyContext: MutableContext
  readonly #valueContext: MutableContext
  readonly #record: CurrentRecord
  /** Where records are looked up by their keys. */
  readonly #lookAhead: KeyLookAhead | undefined
  readonly #blocks: RecordSource[] = []
  #block: RecordSource | undefined
  /** Whether the block's cursor stands on a record that is still to be processed. */
  #atRecord = false
  #isDecoded = false
  #position: number | undefined
  /** Timestamp, decoded key and value of the head. */
  timestamp = -1
  key: unknown = null
  value: unknown = null
  /** Highest timestamp taken from this partition. */
  time = -1
  /** Records taken so far, repeated ones too. */
  consumed = 0
  #committedTime = -1

  constructor(
    topic: string,
    partition: number,
    entry: ChainEntry,
    source: SourceDefinition,
    record: CurrentRecord,
    lookedUp: readonly Pick<StateStore, 'lookAhead'>[],
  ) {
    this.topic = topic
    this.partition = partition
    this.source = source
    this.sourceName = entry.source.name
    this.forward = entry.forward
    this.#reading = { key: entry.key, value: entry.value }
    this.#rawKey = entry.key === 'raw'
    this.#rawValue = entry.value === 'raw'
    this.#consumes = { key: consumesBytes(source.key), value: consumesBytes(source.value) }
    this.#isText = { key: withoutNull(source.key) === string, value: withoutNull(source.value) === string }
    this.#fields = typeof entry.value === 'object' ? new JsonFields(entry.value.fields) : undefined
    this.#text = entry.value === 'inPlace' ? new TextInPlace() : undefined
    this.#keySerde = erasedSerde(source.key)
    this.#valueSerde = erasedSerde(source.value)
    // A table drops null keys and deletes by null values; an internal topic holds what another subtopology wrote.
    const asStream = source.role === 'stream' && !source.internal
    this.#refusesNull = { key: asStream && !isNullable(source.key), value: asStream && !isNullable(source.value) }
    this.#keyContext = { topic, side: 'key', headers: record.sourceHeaders }
    this.#valueContext = { topic, side: 'value', headers: record.sourceHeaders }
    this.#record = record
    this.#lookAhead = lookedUp.length === 0 ? undefined : new KeyLookAhead(lookedUp)
  }

  /** Next offset to process; `undefined` before the first record. */
  get position(): number | undefined {
    return this.#position
  }

  /** Whether nothing is left to process. */
  get isEmpty(): boolean {
    return !this.#advance()
  }

  enqueue(block: RecordSource): void {
    if (this.#blocks.length >= BLOCKS_MAX) {
      throw new MillraceError('INTERNAL', {
        topic: this.topic,
        partition: this.partition,
        what: 'A partition queue is full.',
      })
    }
    this.#blocks.push(block)
    this.#advance()
  }

  /**
   * Decodes the head and reads its timestamp.
   *
   * @throws MillraceError `DESERIALIZATION_FAILED`, `UNEXPECTED_NULL`, `TIMESTAMP_INVALID`
   */
  head(): Head {
    if (this.#isDecoded) return 'ready'
    if (!this.#advance()) return 'empty'
    const block = this.#block
    if (block === undefined) return 'empty'
    this.key = block.hasKey ? (this.#rawKey ? UNREAD : this.#decodeKey(block)) : this.#none('key', block)
    this.value = block.hasValue ? (this.#rawValue ? UNREAD : this.#decodeValue(block)) : this.#none('value', block)
    const timestamp = this.#timestampOf(block)
    if (timestamp === undefined) return 'skip'
    this.timestamp = timestamp
    this.#isDecoded = true
    return 'ready'
  }

  /** Makes the head the task's current record. */
  begin(): void {
    const block = this.#block
    if (block === undefined) return
    this.#record.begin(this.topic, this.partition, block, this.#lookAhead?.keyHash)
  }

  /** Timestamp of the head as the broker has it. */
  get rawTimestamp(): number {
    return this.#block?.timestamp ?? -1
  }

  /** Moves past the head: it was processed, skipped or dead-lettered. */
  consume(): void {
    const block = this.#block
    if (block !== undefined) this.#position = block.offset + 1
    if (this.#isDecoded && this.timestamp > this.time) this.time = this.timestamp
    this.consumed += 1
    this.#atRecord = false
    this.#isDecoded = false
  }

  /** The head will be processed again: what was decoded may have been changed by a step since. */
  putBack(): void {
    this.#isDecoded = false
  }

  /** Drops what is queued; the position starts anew with the next block. */
  clear(): void {
    this.#blocks.length = 0
    this.#block = undefined
    this.#leaveBlock()
    this.#atRecord = false
    this.#isDecoded = false
    this.#position = undefined
  }

  commit(): void {
    this.#committedTime = this.time
  }

  abort(): void {
    this.time = this.#committedTime
    this.clear()
  }

  /** Sets the partition time a restart has read back. */
  setTime(ms: number): void {
    this.time = ms
    this.#committedTime = ms
  }

  /** Brings the cursor onto a record; false when all blocks are read. Passes control records and gaps over. */
  #advance(): boolean {
    for (;;) {
      if (this.#atRecord) return true
      if (this.#block === undefined) {
        // Asked for with every record of the task's other inputs.
        if (this.#blocks.length === 0) return false
        this.#block = this.#blocks.shift()
        if (this.#block === undefined) return false
      }
      if (this.#block.next()) {
        this.#atRecord = true
        this.#lookAhead?.moved(this.#block)
        return true
      }
      this.#position = this.#block.position
      this.#block = undefined
      this.#leaveBlock()
    }
  }

  #leaveBlock(): void {
    this.#fields?.release()
    this.#text?.release()
    this.#lookAhead?.left()
  }

  #decodeKey(block: RecordSource): unknown {
    const { raw } = block
    if (this.#isText.key && raw !== undefined) return textWithin(raw.batch, raw.batchView, raw.keyAt, raw.keyBytes)
    this.#keyContext.headers = block.headers
    try {
      const bytes = this.#consumes.key ? this.#record.lent.keyOf(block) : block.key
      const decoded = this.#keySerde.deserialize(bytesOf(bytes), this.#keyContext)
      return this.#reading.key === 'check' ? UNREAD : decoded
    } catch (cause) {
      throw this.#unreadable('key', block, cause)
    }
  }

  #decodeValue(block: RecordSource): unknown {
    const { raw } = block
    if (this.#isText.value && raw !== undefined) return this.#textOf(raw)
    this.#valueContext.headers = block.headers
    try {
      if (this.#fields !== undefined) return this.#readFields(this.#fields, block)
      const bytes = this.#consumes.value ? this.#record.lent.valueOf(block) : block.value
      const decoded = this.#valueSerde.deserialize(bytesOf(bytes), this.#valueContext)
      return this.#reading.value === 'check' ? UNREAD : decoded
    } catch (cause) {
      throw this.#unreadable('value', block, cause)
    }
  }

  #textOf({ batch, batchView, valueAt, valueBytes }: RawRecord): unknown {
    const text = this.#text
    if (text === undefined) return textWithin(batch, batchView, valueAt, valueBytes)
    text.lieAt(batch, batchView, valueAt, valueBytes)
    return text
  }

  /** Fields of a value where it lies: it stays there until the record is done with. */
  #readFields(fields: JsonFields, block: RecordSource): unknown {
    const { raw } = block
    if (raw !== undefined) {
      return readJsonFields(fields, raw.batch, raw.valueAt, raw.valueAt + raw.valueBytes, this.#valueContext)
    }
    const bytes = bytesOf(block.value)
    return readJsonFields(fields, bytes, 0, bytes.length, this.#valueContext)
  }

  #unreadable(side: 'key' | 'value', block: RecordSource, cause: unknown): MillraceError {
    return new MillraceError('DESERIALIZATION_FAILED', {
      ...this.#place(block),
      cause,
      what: `The ${side} is not what its serde reads: ${reasonOf(cause)}.`,
    })
  }

  /** A side that the record does not have. */
  #none(side: 'key' | 'value', block: RecordSource): null {
    if (!this.#refusesNull[side]) return null
    throw new MillraceError('UNEXPECTED_NULL', {
      ...this.#place(block),
      what: `The ${side} is null, and its serde admits none.`,
    })
  }

  /** The event time; `undefined` when the record is to be passed over. */
  #timestampOf(block: RecordSource): number | undefined {
    const { timestamp: extract, onInvalidTimestamp } = this.source
    const timestamp = extract === undefined ? block.timestamp : this.#extract(block, extract)
    if (Number.isSafeInteger(timestamp) && timestamp >= 0) return timestamp
    switch (onInvalidTimestamp) {
      case 'skip':
        return undefined
      case 'partitionTime':
        if (this.time >= 0) return this.time
        break
      case 'fail':
        break
    }
    throw new MillraceError('TIMESTAMP_INVALID', {
      ...this.#place(block),
      what: `The timestamp of a record is ${String(timestamp)}.`,
    })
  }

  #extract(block: RecordSource, extract: NonNullable<SourceDefinition['timestamp']>): number {
    const record = this.#record
    record.begin(this.topic, this.partition, block)
    record.enter(this.sourceName, block.timestamp, block.headers)
    record.view.partitionTime = this.time
    try {
      const timestamp = extract(this.value, this.key, record.view)
      return typeof timestamp === 'number' ? timestamp : Number.NaN
    } catch (cause) {
      throw new MillraceError('TIMESTAMP_INVALID', {
        ...this.#place(block),
        cause,
        what: `The timestamp of a record cannot be read: ${reasonOf(cause)}.`,
      })
    }
  }

  #place(block: RecordSource): {
    readonly node: string
    readonly topic: string
    readonly partition: number
    readonly offset: number
  } {
    return { node: this.sourceName, topic: this.topic, partition: this.partition, offset: block.offset }
  }
}

function bytesOf(side: Buffer | null): Buffer {
  if (side === null) throw new TypeError('a side that is there has bytes')
  return side
}

interface MutableContext extends SerdeContext {
  headers: RecordHeaders
}
