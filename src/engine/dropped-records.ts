import type { Logger } from '../model/logger.ts'
import type { RecordMetadata } from '../model/record.ts'
import type { DropReason } from '../model/record-failure.ts'

/** Reasons that have a line of their own for each record. */
const TOLD_ELSEWHERE: ReadonlySet<DropReason> = new Set<DropReason>(['skipped', 'deadLettered', 'undelivered'])
/** Time between two lines. */
const INTERVAL_MS = 60_000

interface Dropped {
  count: number
  topic: string
  partition: number
  offset: number
}

/**
 * Tells once a minute how many records were dropped and why: a late record that vanishes silently is looked for in vain,
 * and a line for each would drown the log. Kafka Streams: `KStreamWindowAggregate`'s "Skipping record for expired window".
 */
export class DroppedRecords {
  readonly #logger: Logger
  /** One entry a reason, reused: a flood of late records must not allocate. */
  readonly #since = new Map<DropReason, Dropped>()
  #toldAtMs = Number.NEGATIVE_INFINITY
  #isDue = false

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Counts dropped records; `at` is the last of them, read at once. */
  add(reason: DropReason, count: number, at: RecordMetadata | undefined): void {
    if (TOLD_ELSEWHERE.has(reason)) return
    let dropped = this.#since.get(reason)
    if (dropped === undefined) {
      dropped = { count: 0, topic: '', partition: -1, offset: -1 }
      this.#since.set(reason, dropped)
    }
    dropped.count += count
    this.#isDue = true
    if (at === undefined) return
    dropped.topic = at.topic
    dropped.partition = at.partition
    dropped.offset = at.offset
  }

  /** Called at every turn of the loop: the first drops are told at once, those that follow after a minute. */
  tellIfDue(nowMs: number): void {
    if (this.#isDue && nowMs - this.#toldAtMs >= INTERVAL_MS) this.tell(nowMs)
  }

  /** Tells what is left, at the end. */
  tell(nowMs: number): void {
    if (!this.#isDue) return
    this.#toldAtMs = nowMs
    this.#isDue = false
    for (const [reason, dropped] of this.#since) {
      const { count, topic, partition, offset } = dropped
      if (count === 0) continue
      const last = topic === '' ? {} : { topic, partition, offset }
      this.#logger.warn({ reason, records: count, ...last }, 'records were dropped; the place is that of the last one')
      dropped.count = 0
      dropped.topic = ''
    }
  }
}
