/** One partition as the metadata tell. */
export interface PartitionInfo {
  readonly partition: number
  /** Node id of the leader; −1 when there is none at the moment. */
  readonly leader: number
  /** Grows with each change of leader; −1 when the broker does not tell. */
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
}

/** One topic as the metadata tell. */
export interface TopicInfo {
  readonly name: string
  /** 16 bytes; a topic that was deleted and created again has another one. Zeros when the broker does not tell. */
  readonly topicId: Buffer
  readonly internal: boolean
  /** In order of partition; the index is the partition. */
  readonly partitions: readonly PartitionInfo[]
}

/** Who leads a partition. */
export interface PartitionLeader {
  readonly nodeId: number
  readonly leaderEpoch: number
}
