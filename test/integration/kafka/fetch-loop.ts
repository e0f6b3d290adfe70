import type { Fetcher, FetcherOptions } from '../../../src/kafka/fetcher/fetcher.ts'
import type { Cluster } from '../../../src/kafka/cluster/cluster.ts'
import type { MillraceError } from '../../../src/model/errors.ts'
import { type TopicPartition, TopicPartitionMap } from '../../../src/model/topic-partition.ts'
import { plainFetcher } from '../../support/plain-fetcher.ts'
import { eventually } from '../../support/condition.ts'

/** A record as the fetcher delivered it. */
export interface FetchedRecord {
  readonly partition: number
  readonly offset: number
  readonly key: string | null
  readonly value: string | null
}

/** What a stream thread does with its fetcher, and nothing else: takes blocks and reads them to their end. */
export class FetchLoop {
  readonly fetcher: Fetcher
  readonly records: FetchedRecord[] = []
  readonly failures: { topicPartition: TopicPartition; error: MillraceError }[] = []
  /** Next offset to process, by partition. */
  readonly positions = new TopicPartitionMap<number>()
  /** How many blocks were taken. */
  blocks = 0
  readonly #partitions: TopicPartition[] = []

  constructor(cluster: Cluster, options: Partial<FetcherOptions> = {}) {
    this.fetcher = plainFetcher(cluster, {
      partitionMaxBytes: 262_144,
      onWake: () => {
        setImmediate(() => this.take())
      },
      ...options,
    })
  }

  add(topic: string, partition = 0, offset = 0, leaderEpoch = -1): this {
    const topicPartition = { topic, partition }
    this.#partitions.push(topicPartition)
    this.fetcher.add(topicPartition, { offset, leaderEpoch })
    return this
  }

  /** Forgets what was read and reads from an offset. */
  rewind(topicPartition: TopicPartition, offset: number): void {
    this.records.length = 0
    this.positions.delete(topicPartition)
    this.fetcher.seek(topicPartition, offset)
  }

  /** Takes everything that is there. */
  take(): void {
    let more = true
    while (more) {
      more = false
      for (const topicPartition of this.#partitions) {
        const block = this.fetcher.take(topicPartition)
        if (block === undefined) continue
        more = true
        this.blocks += 1
        const { cursor } = block
        while (cursor.next()) {
          const { offset, key, value } = cursor
          const { partition } = topicPartition
          this.records.push({ partition, offset, key: key && key.toString(), value: value && value.toString() })
        }
        this.positions.set(topicPartition, cursor.position)
      }
    }
    for (let failure = this.fetcher.takeFailure(); failure !== undefined; failure = this.fetcher.takeFailure()) {
      this.failures.push(failure)
    }
  }

  async untilPosition(topic: string, partition: number, position: number, timeoutMs = 15_000): Promise<void> {
    await eventually(
      `the position of ${topic}-${String(partition)} is ${String(position)}`,
      () => (this.positions.get({ topic, partition }) ?? -1) >= position,
      timeoutMs,
    )
  }

  async untilFailure(timeoutMs = 15_000): Promise<MillraceError> {
    await eventually('a partition fails', () => this.failures.length > 0, timeoutMs)
    const [failure] = this.failures
    if (failure === undefined) throw new Error('there is no failure')
    return failure.error
  }

  /** The values read of a partition, in order. */
  values(partition = 0): (string | null)[] {
    return this.records.filter(record => record.partition === partition).map(({ value }) => value)
  }
}
