import type { TopicPartition } from '../../model/topic-partition.ts'
import type { Connection } from '../connection/connection.ts'

/** A topic's id and leaders, as far as the fetcher wants to know them. */
export interface FetchedTopic {
  /** 16 bytes; all zero where the brokers have no topic ids. */
  readonly topicId: Buffer
  readonly partitions: readonly { readonly partition: number; readonly leader: number; readonly leaderEpoch: number }[]
}

/** The part of a broker connection that the fetcher uses. */
export type FetchConnection = Pick<Connection, 'send' | 'destroy' | 'closed'> & {
  readonly apiVersions: Pick<Connection['apiVersions'], 'best'>
}

/** The part of the cluster that the fetcher uses; `Cluster` has this shape. */
export interface FetchCluster {
  /** From the cache, else by asking; undefined when the topic does not exist. */
  topic(name: string): Promise<FetchedTopic | undefined>
  /** From the cache only. */
  leaderOf(topicPartition: TopicPartition): { readonly nodeId: number; readonly leaderEpoch: number } | undefined
  /** Asks a broker anew. */
  refresh(topics: readonly string[]): Promise<void>
  connection(nodeId: number, purpose: 'fetch' | 'control'): Promise<FetchConnection>
}
