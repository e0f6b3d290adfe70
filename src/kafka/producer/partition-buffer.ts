import type { FillingBatch } from './outgoing-batch.ts'
import type { PartitionLane } from './partition-lane.ts'

/** How large a topic's batches may be; shared by its partitions. */
export interface TopicLimits {
  /** `max.message.bytes` of the topic: bound of a batch with a single large record. */
  maxMessageBytes: number
  /** Where a batch is full: `batch.size` within that bound; halved when the broker refuses a batch as too large. */
  batchBytes: number
}

/** The record side of one partition: what is appended and not handed to the sender. */
export class PartitionBuffer {
  readonly lane: PartitionLane
  readonly limits: TopicLimits
  /** What the next record goes into. */
  open: FillingBatch | undefined
  /** Filled ones before it, oldest first; kept until the record that filled them has ended. */
  readonly full: FillingBatch[] = []
  /** Is in the accumulator's list of buffers with records. */
  active = false
  /** The savepoint whose mark stands below; savepoints are numbered, so that the mark of an earlier one says nothing. */
  markedBy = 0
  #markOpen: FillingBatch | undefined
  #markCount = 0
  #markBytes = 0
  #markMaxTimestamp = 0
  #markFull = 0

  constructor(lane: PartitionLane, limits: TopicLimits) {
    this.lane = lane
    this.limits = limits
  }

  /** Remembers where it stands, before the first record of a savepoint. */
  mark(savepoint: number): void {
    this.markedBy = savepoint
    this.#markFull = this.full.length
    this.#markOpen = this.open
    if (this.open === undefined) return
    const { writer } = this.open
    this.#markCount = writer.count
    this.#markBytes = writer.bytes
    this.#markMaxTimestamp = writer.maxTimestamp
  }

  /** Goes back to the mark; batches begun since are handed to `drop`. */
  rollback(drop: (batch: FillingBatch) => void): void {
    const kept = this.#markOpen
    if (this.open !== undefined && this.open !== kept) drop(this.open)
    while (this.full.length > this.#markFull) {
      const batch = this.full.pop()
      if (batch !== undefined && batch !== kept) drop(batch)
    }
    this.open = kept
    kept?.writer.truncate(this.#markCount, this.#markBytes, this.#markMaxTimestamp)
    this.markedBy = 0
  }
}
