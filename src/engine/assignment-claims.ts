import { formatTopicPartition, TopicPartitionMap, type TopicPartition } from '../model/topic-partition.ts'
import { assert } from '../model/assert.ts'

/**
 * The partitions this member named in its last JoinGroup. The broker never checks ownership, so only these may be
 * committed under the generation that JoinGroup brought (docs/design.md).
 */
export class AssignmentClaims {
  #claimed = new TopicPartitionMap<true>()
  #epoch = 0

  /** Grows with every change of what this thread owns; a transaction lives within one epoch. */
  get epoch(): number {
    return this.#epoch
  }

  /** What a JoinGroup that is about to be sent names as owned. */
  claim(owned: readonly TopicPartition[]): void {
    this.#claimed = new TopicPartitionMap(owned.map(partition => [partition, true] as const))
  }

  /** Called when partitions came or went. */
  changed(owned: readonly TopicPartition[]): void {
    this.#epoch += 1
    this.claim(owned)
  }

  /** Stops a commit for a partition that was never claimed. */
  assertClaimed(partitions: Iterable<TopicPartition>): void {
    for (const partition of partitions) {
      assert(this.#claimed.has(partition), 'I5 fencing', { unclaimed: formatTopicPartition(partition) })
    }
  }
}
