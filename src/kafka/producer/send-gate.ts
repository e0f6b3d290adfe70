import type { PartitionLane } from './partition-lane.ts'
import type { SpokenVersions } from './transaction-versions.ts'

/** Who sends, written into every batch. */
export interface ProducerStamp {
  readonly producerId: number
  readonly epoch: number
  readonly transactional: boolean
}

/** Says whether, and as whom, the sender may send. */
export interface SendGate {
  /** `null`: without producer id. */
  readonly stamp: ProducerStamp | null
  /** Versions of Produce that may be used. */
  readonly produceVersions: SpokenVersions
  /**
   * Whether the broker refuses a partition's first batch of an epoch unless it begins with sequence 0. Where it takes any
   * (before protocol 2), the second batch must not leave before the first was acknowledged: if only that one comes back,
   * the second would take its place for good.
   */
  readonly provesFirstSequence: boolean
  /** Whether the partition may be sent to now; where not, the gate works on it and the sender is asked to `drain` later. */
  admits(lane: PartitionLane): boolean
  /** Records wait for `linger.ms` there: what can be done meanwhile for the partition to be sent to may be done now. */
  expects(lane: PartitionLane, nowMs: number): void
}
