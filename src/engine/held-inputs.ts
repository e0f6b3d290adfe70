import { TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import type { PartitionSnapshot, ThreadSnapshot } from './thread-metrics.ts'

/** An input that an open transaction of a writer holds up: all that may be read is read, and more is there. */
export interface HeldInput {
  readonly topicPartition: TopicPartition
  /** Where readers stand. */
  readonly lastStableOffset: number
  readonly highWatermark: number
  /** Since when the last stable offset has stood there, by the monotonic clock. */
  readonly sinceMs: number
}

/** Keeps how long inputs have been held up, from what the threads tell about their positions. */
export class HeldInputs {
  #held = new TopicPartitionMap<HeldInput>()

  /**
   * Takes a new look.
   *
   * @returns inputs that were held up at the look before, and got further
   */
  look(threads: readonly ThreadSnapshot[], nowMs: number): readonly HeldInput[] {
    const before = this.#held
    this.#held = new TopicPartitionMap()
    const seen = new TopicPartitionMap<true>()
    for (const partition of threads.flatMap(({ partitions }) => partitions)) {
      seen.set(partition, true)
      const held = heldInput(partition, before.get(partition), nowMs)
      if (held !== undefined) this.#held.set(partition, held)
    }
    // One that moved to another instance, or whose thread did not answer this time, is not known to go on.
    const gone = [...before].filter(([place, old]) => {
      const now = this.#held.get(place)
      return seen.has(place) && now?.lastStableOffset !== old.lastStableOffset
    })
    return gone.map(([, held]) => held)
  }

  get all(): readonly HeldInput[] {
    return [...this.#held.values()]
  }

  of(topicPartition: TopicPartition): HeldInput | undefined {
    return this.#held.get(topicPartition)
  }
}

/** Watermarks are as of the last fetch; where the reader stands at the stable end, fetches go on and they are fresh. */
function heldInput(
  { topic, partition, position, lastStableOffset, highWatermark }: PartitionSnapshot,
  before: HeldInput | undefined,
  nowMs: number,
): HeldInput | undefined {
  if (lastStableOffset === undefined || highWatermark === undefined) return undefined
  if (highWatermark <= lastStableOffset || position < lastStableOffset) return undefined
  const sinceMs = before?.lastStableOffset === lastStableOffset ? before.sinceMs : nowMs
  return { topicPartition: { topic, partition }, lastStableOffset, highWatermark, sinceMs }
}
