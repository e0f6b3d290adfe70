/** A committed offset of one partition. Kafka: `OffsetAndMetadata`. */
export interface OffsetAndMetadata {
  /** Next offset to process. */
  readonly offset: number
  /** Leader epoch of the last processed record; −1 when unknown. */
  readonly leaderEpoch: number
  /** Free text of the committer, at most 4,096 characters by a broker's default; empty when there is none. */
  readonly metadata: string
}
