import type { RecordHeaders } from '../model/headers.ts'
import { outputBySending, type RecordCollector } from '../engine/record-collector.ts'
import type { TopicOutput } from '../operators/sink.ts'

/** A record a topology has written. */
export interface SentRecord {
  readonly topic: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly timestamp: number
  readonly headers: RecordHeaders
}

/** Keeps what tasks send, in order; every topic has one partition. */
export class MemoryCollector implements RecordCollector {
  /** Everything sent and not taken back. */
  readonly sent: SentRecord[] = []
  readonly #onKept: (record: SentRecord) => void
  #mark = 0

  /** @param onKept - told of each record once the input record that caused it is through */
  constructor(onKept: (record: SentRecord) => void) {
    this.#onKept = onKept
  }

  send(
    topic: string,
    _partition: number | undefined,
    key: Uint8Array | null,
    value: Uint8Array | null,
    timestamp: number,
    headers: RecordHeaders,
  ): void {
    this.sent.push({ topic, key: copyOf(key), value: copyOf(value), timestamp, headers })
  }

  output(topic: string): TopicOutput {
    return outputBySending(this, topic)
  }

  partitionCount(): number {
    return 1
  }

  beginRecord(): void {
    this.#mark = this.sent.length
  }

  endRecord(): boolean {
    const kept = this.sent.slice(this.#mark)
    this.#mark = this.sent.length
    for (const record of kept) this.#onKept(record)
    return kept.length > 0
  }

  rollbackRecord(): void {
    this.sent.length = this.#mark
  }

  /** Forgets everything after the first `count` records. */
  truncate(count: number): void {
    this.sent.length = count
    this.#mark = count
  }
}

function copyOf(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes)
}
