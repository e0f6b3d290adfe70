import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import { KeyHashes } from '../model/key-hashes.ts'
import { LentBytes } from '../model/lent-bytes.ts'
import { murmur2 } from '../model/murmur2.ts'
import type { RecordContext, RecordMetadata } from '../model/record.ts'
import type { RecordSource } from '../model/record-source.ts'
import type { UpdateContext } from '../stores/suppress-state.ts'
import { Releases } from './releases.ts'

/** What user code sees of the record; one object per task, overwritten before each call. */
class RecordView implements RecordContext {
  timestamp = -1
  headers: RecordHeaders = NO_HEADERS
  /** Highest timestamp of the record's partition before it; only timestamp extractors are told. */
  partitionTime = -1
  readonly origin = { topic: '', partition: 0, offset: -1 }
  hasOrigin = false

  get metadata(): RecordMetadata | undefined {
    return this.hasOrigin ? { ...this.origin } : undefined
  }
}

const NO_RECORD: RecordMetadata = { topic: '', partition: -1, offset: -1 }

/** The record a task is working on, and which of its operators. One object per task, reused for every record. */
export class CurrentRecord {
  /** What user code is handed. */
  readonly view = new RecordView()
  /** Where the record is read from, standing on it; `undefined` in a punctuation. */
  source: RecordSource | undefined
  /** Its bytes. */
  readonly lent = new LentBytes()
  /** The hash of its key. */
  readonly keyHashes = new KeyHashes()
  /** What it lets go of what was held back. */
  readonly releases = new Releases()
  /** Headers as they were read. */
  sourceHeaders: RecordHeaders = NO_HEADERS
  /** Event time of the source record. */
  sourceTimestamp = -1
  /** Whether the version a table is telling of is the latest of its key; older ones may come late. */
  isLatest = true
  /** Name of the operator that runs, for the report of a failure. */
  node = ''
  /** Tells punctuations apart where there is no source. */
  #punctuation: object | undefined
  /** What `lentKey` has given for this record. */
  #lentKey: Buffer | null | undefined
  /** Hash of the source's key where the queue knows it. */
  #keyHash: number | undefined
  /** The record that lets go what was held back, while that is acted for. */
  #releasedBy: RecordMetadata | undefined

  /** Key as it was read. */
  get rawKey(): Buffer | null {
    return this.source === undefined ? null : this.source.key
  }

  /** As `rawKey`, for whoever copies it: the bytes are others with the next record. */
  get lentKey(): Buffer | null {
    return this.#lentKey === undefined ? this.#lendKey() : this.#lentKey
  }

  /** As `rawValue`, for whoever copies it: the bytes are others with the next record. */
  get lentValue(): Buffer | null {
    return this.source === undefined ? null : this.lent.valueOf(this.source)
  }

  /** Value as it was read. */
  get rawValue(): Buffer | null {
    return this.source === undefined ? null : this.source.value
  }

  /** Starts the record that a source stands on; `keyHash` is the `murmur2` of its key where that is known. */
  begin(topic: string, partition: number, source: RecordSource, keyHash?: number): void {
    const { view } = this
    const { origin } = view
    const { headers } = source
    origin.topic = topic
    origin.partition = partition
    origin.offset = source.offset
    view.hasOrigin = true
    view.headers = headers
    this.source = source
    this.#forgetKey()
    this.#keyHash = keyHash
    this.sourceHeaders = headers
    this.isLatest = true
    this.releases.begin(source, source.offset)
    // Still there when the record before failed while it let something go.
    this.#releasedBy = undefined
  }

  /** The source has moved on, or is gone: the bytes of its record cannot be asked for any more. */
  leaveSource(): void {
    this.source = undefined
    this.#forgetKey()
  }

  /** Starts a punctuation, or another try of it, which `punctuation` says: there is no record. */
  beginPunctuation(timestamp: number, punctuation?: object): void {
    const { view } = this
    view.hasOrigin = false
    this.#releasedBy = undefined
    view.timestamp = timestamp
    view.headers = NO_HEADERS
    this.source = undefined
    this.#punctuation = punctuation
    this.releases.begin(punctuation, -1)
    this.#forgetKey()
    this.sourceHeaders = NO_HEADERS
    this.sourceTimestamp = timestamp
  }

  /** Leaves a result out that the record, or punctuation, lets go of, when it is processed again. */
  leaveOut(release: number): void {
    const { source } = this
    if (source === undefined) this.releases.leaveOut(release, this.#punctuation, -1)
    else this.releases.leaveOut(release, source, source.offset)
  }

  /** To be called before user code of an operator runs. */
  enter(node: string, timestamp: number, headers: RecordHeaders): void {
    this.node = node
    this.view.timestamp = timestamp
    this.view.headers = headers
  }

  /** Whether one that was held back is acted for: neither its bytes nor what stands around them are those of the source's record. */
  get actsForAnother(): boolean {
    return this.#releasedBy !== undefined
  }

  /** Where what is being written comes from, to be acted for later. */
  contextNow(): UpdateContext {
    const { timestamp, headers, hasOrigin } = this.view
    const { topic, partition, offset } = hasOrigin ? this.view.origin : NO_RECORD
    return { timestamp, headers, topic, partition, offset }
  }

  /** The source record being worked on, also while one that was held back is acted for; no topic in a punctuation. */
  get cause(): RecordMetadata {
    const { origin, hasOrigin } = this.view
    return this.#releasedBy ?? (hasOrigin ? origin : NO_RECORD)
  }

  #lendKey(): Buffer | null {
    const { source } = this
    if (source === undefined) return null
    const key = this.lent.keyOf(source)
    this.#lentKey = key
    if (key !== null) this.keyHashes.know(key, this.#keyHash ?? murmur2(key))
    return key
  }

  /** The place its key was lent from is used again. */
  #forgetKey(): void {
    this.#lentKey = undefined
    this.#keyHash = undefined
    this.keyHashes.forget()
  }

  /**
   * Runs work for a record that was held back, as one of `releases`: downstream sees that record, not the one that let it go.
   */
  actingFor(context: UpdateContext, node: string, work: () => void): void {
    this.releases.release(() => {
      this.#actFor(context, node, work)
    })
  }

  #actFor(context: UpdateContext, node: string, work: () => void): void {
    const { view } = this
    const { topic, partition, offset } = view.origin
    const { hasOrigin, timestamp, headers } = view
    const outer = this.#releasedBy
    this.#releasedBy ??= hasOrigin ? { topic, partition, offset } : NO_RECORD
    view.origin.topic = context.topic
    view.origin.partition = context.partition
    view.origin.offset = context.offset
    view.hasOrigin = context.topic !== ''
    this.enter(node, context.timestamp, context.headers)
    work()
    view.origin.topic = topic
    view.origin.partition = partition
    view.origin.offset = offset
    view.hasOrigin = hasOrigin
    this.#releasedBy = outer
    this.enter(node, timestamp, headers)
  }
}
