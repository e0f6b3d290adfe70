/** What was written to one topic. */
export interface WrittenTotal {
  readonly records: number
  /** Before compression. */
  readonly bytes: number
}

interface Counter {
  records: number
  bytes: number
  pendingRecords: number
  pendingBytes: number
}

/** Records and bytes written for good, by topic: what was acknowledged counts once its transaction is committed. */
export class WrittenTotals {
  readonly #topics = new Map<string, Counter>()
  #pendingBatches = 0

  /** A broker has acknowledged a batch. */
  acknowledged(topic: string, records: number, bytes: number): void {
    let counter = this.#topics.get(topic)
    if (counter === undefined) {
      counter = { records: 0, bytes: 0, pendingRecords: 0, pendingBytes: 0 }
      this.#topics.set(topic, counter)
    }
    counter.pendingRecords += records
    counter.pendingBytes += bytes
    this.#pendingBatches += 1
  }

  /** What was acknowledged is committed. */
  settle(): void {
    for (const counter of this.#topics.values()) {
      counter.records += counter.pendingRecords
      counter.bytes += counter.pendingBytes
    }
    this.forget()
  }

  /** What was acknowledged and not committed is gone. */
  forget(): void {
    this.#pendingBatches = 0
    for (const counter of this.#topics.values()) {
      counter.pendingRecords = 0
      counter.pendingBytes = 0
    }
  }

  /** Batches acknowledged and neither settled nor forgotten. */
  get pendingBatches(): number {
    return this.#pendingBatches
  }

  get byTopic(): ReadonlyMap<string, WrittenTotal> {
    return this.#topics
  }
}
