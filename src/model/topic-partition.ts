/** One partition of one topic. A value: compare by content, keep in a `TopicPartitionMap`. */
export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** The text form for logs and messages, such as `orders-3`; never parsed back. */
export function formatTopicPartition({ topic, partition }: TopicPartition): string {
  return `${topic}-${String(partition)}`
}

/** Whether two values name the same partition. */
export function sameTopicPartition(a: TopicPartition, b: TopicPartition): boolean {
  return a.partition === b.partition && a.topic === b.topic
}

/** A map from partitions to values, in order of insertion by topic. */
export class TopicPartitionMap<V> implements Iterable<readonly [TopicPartition, V]> {
  readonly #topics = new Map<string, Map<number, V>>()
  #size = 0

  constructor(entries: Iterable<readonly [TopicPartition, V]> = []) {
    for (const [topicPartition, value] of entries) this.set(topicPartition, value)
  }

  get size(): number {
    return this.#size
  }

  get({ topic, partition }: TopicPartition): V | undefined {
    return this.#topics.get(topic)?.get(partition)
  }

  has({ topic, partition }: TopicPartition): boolean {
    return this.#topics.get(topic)?.has(partition) === true
  }

  set({ topic, partition }: TopicPartition, value: V): this {
    let partitions = this.#topics.get(topic)
    if (partitions === undefined) {
      partitions = new Map()
      this.#topics.set(topic, partitions)
    }
    if (!partitions.has(partition)) this.#size += 1
    partitions.set(partition, value)
    return this
  }

  delete({ topic, partition }: TopicPartition): boolean {
    const partitions = this.#topics.get(topic)
    if (partitions?.delete(partition) !== true) return false
    if (partitions.size === 0) this.#topics.delete(topic)
    this.#size -= 1
    return true
  }

  clear(): void {
    this.#topics.clear()
    this.#size = 0
  }

  *keys(): IterableIterator<TopicPartition> {
    for (const [topicPartition] of this) yield topicPartition
  }

  *values(): IterableIterator<V> {
    for (const partitions of this.#topics.values()) yield* partitions.values()
  }

  *[Symbol.iterator](): IterableIterator<readonly [TopicPartition, V]> {
    for (const [topic, partitions] of this.#topics) {
      for (const [partition, value] of partitions) yield [{ topic, partition }, value]
    }
  }

  /** The partitions grouped by topic, as requests want them. */
  byTopic(): ReadonlyMap<string, ReadonlyMap<number, V>> {
    return this.#topics
  }
}
