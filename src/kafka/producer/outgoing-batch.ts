import type { RecordBatchWriter, SealedBatch } from '../records/record-batch-writer.ts'

/** A batch that records are still appended to, or that is full and waits to be closed. */
export class FillingBatch {
  readonly writer: RecordBatchWriter
  /** The bound of its writer. */
  readonly capacityBytes: number
  /** Monotonic time at which it was first seen with records; −1 before. `linger.ms` counts from it. */
  lingerFromMs = -1

  constructor(writer: RecordBatchWriter, capacityBytes: number) {
    this.writer = writer
    this.capacityBytes = capacityBytes
  }
}

/** A closed batch on its way to a broker. It keeps its sequence, so that only the identical bytes are ever sent again. */
export class OutgoingBatch {
  /** What it was filled in: goes back to the pool when the batch is done with, for the sealed bytes may be its buffer. */
  readonly source: FillingBatch
  readonly sealed: SealedBatch
  /** Bytes counted against `buffer.memory`: before compression. */
  readonly bufferedBytes: number
  /** Monotonic time after which it is given up (`delivery.timeout.ms`). */
  readonly deadlineMs: number
  /** −1 until it is sent for the first time. */
  baseSequence = -1
  /** Sent and not answered yet. */
  outstanding = false
  /** How often it came back. */
  failures = 0
  /** Why it came back last, or what it waits for. */
  lastReason = 'it was not sent'

  constructor(source: FillingBatch, sealed: SealedBatch, bufferedBytes: number, deadlineMs: number) {
    this.source = source
    this.sealed = sealed
    this.bufferedBytes = bufferedBytes
    this.deadlineMs = deadlineMs
  }
}
