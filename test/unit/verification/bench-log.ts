import { headersOf, NO_HEADERS, type RecordHeaders } from '../../../src/model/headers.ts'
import type { ObservedPartition } from '../../../src/verification/observed-log.ts'
import type { RawBatch } from '../../../src/verification/raw-batches.ts'
import { judgeByMarkers } from '../../../src/verification/transaction-fates.ts'

/** What stands at one offset: the place in the list. */
export type BenchEntry =
  | {
      readonly kind: 'record'
      readonly key: Buffer | null
      readonly value: Buffer | null
      readonly timestamp: number
      readonly headers: RecordHeaders
      /** −1 outside transactions. */
      readonly producerId: number
      readonly producerEpoch: number
    }
  | {
      readonly kind: 'marker'
      readonly marker: 'commit' | 'abort'
      readonly producerId: number
      readonly producerEpoch: number
    }

/** A record with text for key and value, outside of transactions. */
export function plainRecord(key: string | null, value: string | null, timestamp = 0): BenchEntry {
  return {
    kind: 'record',
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    timestamp,
    headers: NO_HEADERS,
    producerId: -1,
    producerEpoch: -1,
  }
}

/** Headers of texts. */
export function textHeaders(headers: Readonly<Record<string, string>>): RecordHeaders {
  return headersOf(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]))
}

/** One partition whose entries a test may change before it is observed: offsets follow from the order. */
export class BenchLog {
  readonly topic: string
  readonly partition: number
  readonly entries: BenchEntry[] = []
  /** Entries below it are gone. */
  logStart = 0
  isCompacted = false
  topicId = 'a'
  /** Time of every record where the broker stamps them. */
  appendTime: number | undefined
  /** From this offset on, where the topic was told so later. */
  appendTimeFrom = 0
  /** What the broker's list of aborted transactions shows, where it is to differ from the markers. */
  shownCommitted: readonly number[] | undefined

  constructor(topic: string, partition: number) {
    this.topic = topic
    this.partition = partition
  }

  get end(): number {
    return this.entries.length
  }

  observed(): ObservedPartition {
    const { topic, partition, logStart, isCompacted, topicId } = this
    const { records, markers } = judgeByMarkers(
      this.entries.map((entry, offset) =>
        batchOf(entry, offset, offset < this.appendTimeFrom ? undefined : this.appendTime),
      ),
      { topic, partition },
    )
    const open = records.find(({ fate }) => fate === 'open')
    const kept = records.filter(({ offset }) => offset >= logStart)
    return {
      topic,
      partition,
      topicId,
      logStart,
      lastStableOffset: open?.offset ?? this.end,
      highWatermark: this.end,
      records: kept,
      markers: markers.filter(({ offset }) => offset >= logStart),
      shownCommitted:
        this.shownCommitted ?? kept.filter(({ fate }) => fate === 'committed').map(({ offset }) => offset),
      isCompacted,
    }
  }
}

function batchOf(entry: BenchEntry, offset: number, appendTime: number | undefined): RawBatch {
  const { producerId, producerEpoch } = entry
  const isMarker = entry.kind === 'marker'
  return {
    baseOffset: offset,
    lastOffset: offset,
    producerId,
    producerEpoch,
    isTransactional: producerId >= 0,
    isStampedByBroker: appendTime !== undefined,
    marker: isMarker ? entry.marker : undefined,
    records: isMarker ? [] : [{ ...entry, offset, timestamp: appendTime ?? entry.timestamp }],
  }
}
