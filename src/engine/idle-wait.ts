import type { Fetcher } from '../kafka/fetcher/fetcher.ts'
import type { Clock } from '../model/clock.ts'
import type { SubtopologyPlan } from '../topology/plan.ts'

/** What an idle wait goes by. */
export interface IdleWaitParts {
  /** How long an input that is read to its end is waited for, in ms. */
  readonly maxIdleMs: number
  /** Records of a topic's partition that are known to be there and were not handed over; `undefined` while nothing is known. */
  readonly lagOf: (topic: string) => number | undefined
  /** Monotonic. */
  readonly nowMs: () => number
}

/**
 * Whether a task with several inputs goes on although one of them has nothing queued: not while records of it are known to
 * be on the broker, and otherwise once it has been empty for `max.task.idle.ms`. So the order in which topics are fetched
 * decides nothing. Kafka Streams: `PartitionGroup.readyToProcess` (KIP-353, KIP-695).
 */
export class IdleWait {
  readonly #parts: IdleWaitParts
  /** When an empty input is not waited for any more, by topic. */
  readonly #deadlines = new Map<string, number>()
  /** Inputs that are not waited for in this run of the task: nothing new comes in meanwhile. */
  readonly #passed = new Set<string>()

  constructor(parts: IdleWaitParts) {
    this.#parts = parts
  }

  /** Begins a run of the task: what may have come since then counts. */
  begin(): void {
    if (this.#passed.size > 0) this.#passed.clear()
  }

  /** Something of the topic was handed over. */
  filled(topic: string): void {
    this.#deadlines.delete(topic)
  }

  /** Whether the task has to wait for a topic of which nothing is queued. */
  mustWait(topic: string): boolean {
    if (this.#passed.has(topic)) return false
    const { lagOf, nowMs, maxIdleMs } = this.#parts
    const lag = lagOf(topic)
    if (lag === undefined || lag > 0) {
      this.#deadlines.delete(topic)
      return true
    }
    const now = nowMs()
    const deadline = this.#deadlines.get(topic) ?? now + maxIdleMs
    this.#deadlines.set(topic, deadline)
    if (now < deadline) return true
    this.#passed.add(topic)
    return false
  }

  /** When the next wait is over unless a record comes before, by the monotonic clock; infinity without one. */
  nextMs(): number {
    const now = this.#parts.nowMs()
    let next = Number.POSITIVE_INFINITY
    for (const deadline of this.#deadlines.values()) if (deadline > now && deadline < next) next = deadline
    return next
  }
}

/** The idle wait of a task; none for one that reads a single topic, or where `max.task.idle.ms` is −1. */
export function idleWaitOf(
  maxIdleMs: number,
  { sources }: SubtopologyPlan,
  partition: number,
  fetcher: Pick<Fetcher, 'lagOf'>,
  clock: Pick<Clock, 'nowMs'>,
): IdleWait | undefined {
  const topics = sources.flatMap(source => source.topics)
  if (maxIdleMs < 0 || topics.length < 2) return undefined
  const partitions = new Map(topics.map(topic => [topic, { topic, partition }]))
  return new IdleWait({
    maxIdleMs,
    nowMs: () => clock.nowMs(),
    lagOf: topic => {
      const topicPartition = partitions.get(topic)
      return topicPartition === undefined ? 0 : fetcher.lagOf(topicPartition)
    },
  })
}
