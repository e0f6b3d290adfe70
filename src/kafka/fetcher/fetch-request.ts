import type { RequestBodies, ResponseBodies } from '../protocol/api.ts'
import type { FetchPartition } from './fetch-partition.ts'
import { groupBy } from './group-by.ts'

/** What every fetch asks for, whatever the partitions. */
export interface FetchLimits {
  readonly isolation: 'read_committed' | 'read_uncommitted'
  readonly minBytes: number
  readonly maxBytes: number
  readonly partitionMaxBytes: number
}

/** One partition of a request, as it was when the request went out. */
export interface AskedPartition {
  readonly partition: FetchPartition
  readonly generation: number
  readonly offset: number
}

/** One partition of an answer. */
export type FetchedPartition = ResponseBodies['Fetch']['responses'][number]['partitions'][number]

/** First version that names topics by id. */
const TOPIC_ID_VERSION = 13
const NO_TOPIC_ID = Buffer.alloc(16)

/** The body of a fetch without a session; partitions in the order asked, grouped by topic as they first appear. */
export function fetchBody(
  asked: readonly AskedPartition[],
  maxWaitMs: number,
  limits: FetchLimits,
): RequestBodies['Fetch'] {
  const topics = groupBy(asked, ({ partition }) => `${partition.topicKey}/${partition.topicPartition.topic}`)
  return {
    maxWaitMs,
    minBytes: limits.minBytes,
    maxBytes: limits.maxBytes,
    isolationLevel: limits.isolation === 'read_committed' ? 1 : 0,
    topics: Array.from(topics.values(), list => ({
      topic: list[0]?.partition.topicPartition.topic ?? '',
      topicId: list[0]?.partition.topicId ?? NO_TOPIC_ID,
      partitions: list.map(({ partition, offset }) => ({
        partition: partition.topicPartition.partition,
        currentLeaderEpoch: partition.leaderEpoch,
        fetchOffset: offset,
        partitionMaxBytes: limits.partitionMaxBytes,
      })),
    })),
  }
}

/** Pairs what was asked with what came, by topic and partition: answers do not keep the order of the request. */
export class FetchAnswers {
  readonly #topics = new Map<string, Map<number, FetchedPartition>>()
  readonly #byId: boolean

  constructor(version: number, response: ResponseBodies['Fetch']) {
    this.#byId = version >= TOPIC_ID_VERSION
    for (const topic of response.responses) {
      const key = this.#byId ? topic.topicId.toString('hex') : topic.topic
      const partitions = this.#topics.get(key) ?? new Map<number, FetchedPartition>()
      for (const partition of topic.partitions) partitions.set(partition.partitionIndex, partition)
      this.#topics.set(key, partitions)
    }
  }

  /** Undefined when the broker left the partition out. */
  of({ topicKey, topicPartition }: FetchPartition): FetchedPartition | undefined {
    return this.#topics.get(this.#byId ? topicKey : topicPartition.topic)?.get(topicPartition.partition)
  }
}
