import type { RecordHeaders } from '../model/headers.ts'
import { formatTopicPartition, type TopicPartition, TopicPartitionMap } from '../model/topic-partition.ts'

/** What became of a record: `open` while its transaction has no end in the log. */
export type Fate = 'committed' | 'aborted' | 'open'

/** A data record as it lies in a log, whatever became of its transaction. */
export interface ObservedRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** Milliseconds since 1970. */
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  /** −1 for a record outside transactions that has no producer id. */
  readonly producerId: number
  readonly producerEpoch: number
  readonly isTransactional: boolean
  /** Whether its time is that of the broker (`LogAppendTime`), not of its writer. */
  readonly isStampedByBroker: boolean
  readonly fate: Fate
  /** Offset of the marker that ended its transaction; its own outside transactions; `undefined` while open. */
  readonly decidedAt: number | undefined
}

/** The end of a transaction in one partition. */
export interface ObservedMarker {
  readonly offset: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly kind: 'commit' | 'abort'
}

/** One partition's log, read from its beginning to its end. */
export interface ObservedPartition {
  readonly topic: string
  readonly partition: number
  /** Hexadecimal; empty where the broker does not say. Another one is another topic of the same name. */
  readonly topicId: string
  readonly logStart: number
  readonly lastStableOffset: number
  readonly highWatermark: number
  /** Every data record, those of aborted transactions too, in order of offsets. */
  readonly records: readonly ObservedRecord[]
  readonly markers: readonly ObservedMarker[]
  /** Offsets that a read_committed reader was shown by the broker's own list of aborted transactions. */
  readonly shownCommitted: readonly number[]
  /** Whether the topic's policy lets the cleaner remove superseded records. */
  readonly isCompacted: boolean
}

/** The logs of a run. */
export class ObservedLogs {
  readonly #partitions = new TopicPartitionMap<ObservedPartition>()

  constructor(partitions: Iterable<ObservedPartition>) {
    for (const partition of partitions) this.#partitions.set(partition, partition)
  }

  /** Adds the logs of topics that were found later. */
  with(more: Iterable<ObservedPartition>): ObservedLogs {
    return new ObservedLogs([...this.#partitions.values(), ...more])
  }

  get(topicPartition: TopicPartition): ObservedPartition | undefined {
    return this.#partitions.get(topicPartition)
  }

  /** Partitions of a topic, in order; none when it does not exist. */
  of(topic: string): readonly ObservedPartition[] {
    const partitions = this.#partitions.byTopic().get(topic)
    return partitions === undefined ? [] : [...partitions.values()].toSorted((a, b) => a.partition - b.partition)
  }

  all(): readonly ObservedPartition[] {
    return [...this.#partitions.values()]
  }

  has(topic: string): boolean {
    return this.of(topic).length > 0
  }
}

/** What a read_committed reader sees. */
export function visible(log: ObservedPartition): readonly ObservedRecord[] {
  return log.records.filter(({ fate }) => fate === 'committed')
}

/** What an offset holds; `gone`: below the beginning of the log, or cleaned away; `nothing`: behind its end, or where no cleaner can have been. */
export type Standing = ObservedRecord | 'marker' | 'gone' | 'nothing'

/** Looks up offsets of one log; made once, asked often. */
export function standings(log: ObservedPartition): (offset: number) => Standing {
  const records = new Map(log.records.map(record => [record.offset, record]))
  const markers = new Set(log.markers.map(({ offset }) => offset))
  return offset => {
    if (offset < log.logStart) return 'gone'
    if (offset >= log.highWatermark) return 'nothing'
    const held = records.get(offset) ?? (markers.has(offset) ? 'marker' : undefined)
    return held ?? (log.isCompacted ? 'gone' : 'nothing')
  }
}

/** What is not there any more of logs that were cut or cleaned, in words; `undefined` when all of it is. */
export function missingNote(logs: readonly ObservedPartition[]): string | undefined {
  const notes = logs.flatMap(log => {
    const missing = log.logStart + missingOffsets(log)
    return missing > 0 ? [`${String(missing)} of ${formatTopicPartition(log)}`] : []
  })
  return notes.length === 0 ? undefined : `offsets that were cleaned or deleted: ${notes.join(', ')}`
}

/** Offsets between beginning and end that hold neither a record nor a marker: only the cleaner makes such holes. */
export function missingOffsets({ logStart, highWatermark, records, markers }: ObservedPartition): number {
  return Math.max(0, highWatermark - logStart) - records.length - markers.length
}
