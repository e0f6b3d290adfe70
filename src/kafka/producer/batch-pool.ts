import { RecordBatchWriter } from '../records/record-batch-writer.ts'
import { FillingBatch } from './outgoing-batch.ts'

/** Most partitions hold little between two commits; a busy one's buffer doubles to its bound within the first batch. */
const INITIAL_BYTES = 16_384

/** Empty batches for reuse: at a million records a second, fresh 256 KB buffers would keep the collector busy. */
export class BatchPool {
  readonly #boundBytes: number
  readonly #free = new Map<number, RecordBatchWriter[]>()
  #freeBytes = 0

  /** @param boundBytes - how much the unused buffers may hold together */
  constructor(boundBytes: number) {
    this.#boundBytes = boundBytes
  }

  /** An empty batch that stays within `capacityBytes`. */
  take(capacityBytes: number): FillingBatch {
    let writer = this.#free.get(capacityBytes)?.pop()
    if (writer === undefined) {
      writer = new RecordBatchWriter({
        initialBytes: Math.min(INITIAL_BYTES, capacityBytes),
        maxBytes: capacityBytes,
      })
    } else {
      this.#freeBytes -= capacityBytes
    }
    return new FillingBatch(writer, capacityBytes)
  }

  /** Takes a batch back; neither it nor what was sealed from it may be used any more. */
  give({ writer, capacityBytes }: FillingBatch): void {
    if (this.#freeBytes + capacityBytes > this.#boundBytes) return
    writer.reset()
    let free = this.#free.get(capacityBytes)
    if (free === undefined) {
      free = []
      this.#free.set(capacityBytes, free)
    }
    free.push(writer)
    this.#freeBytes += capacityBytes
  }
}
