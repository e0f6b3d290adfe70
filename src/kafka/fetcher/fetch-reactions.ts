/**
 * What the fetcher does about a partition's error code. `relocate`: find the leader again and go on, without end,
 * because brokers come back; `recheckTopic`: the same, but for a bounded time, after which the topic counts as gone;
 * `outOfRange`, `notAuthorized`: a failure for the engine at once; `retryBounded`: try again for a bounded time, then fail.
 */
export type FetchReaction = 'none' | 'relocate' | 'recheckTopic' | 'outOfRange' | 'notAuthorized' | 'retryBounded'

/** By Kafka's error code (class `Errors`); reliability of each row: KIP-320, KIP-516 and the consumer's `FetchCollector`. */
const REACTIONS: ReadonlyMap<number, FetchReaction> = new Map<number, FetchReaction>([
  [0, 'none'],
  [1, 'outOfRange'], // OFFSET_OUT_OF_RANGE
  [3, 'recheckTopic'], // UNKNOWN_TOPIC_OR_PARTITION
  [5, 'relocate'], // LEADER_NOT_AVAILABLE
  [6, 'relocate'], // NOT_LEADER_OR_FOLLOWER
  [7, 'relocate'], // REQUEST_TIMED_OUT
  [8, 'relocate'], // BROKER_NOT_AVAILABLE
  [9, 'relocate'], // REPLICA_NOT_AVAILABLE
  [13, 'relocate'], // NETWORK_EXCEPTION
  [29, 'notAuthorized'], // TOPIC_AUTHORIZATION_FAILED
  [56, 'relocate'], // KAFKA_STORAGE_ERROR
  [74, 'relocate'], // FENCED_LEADER_EPOCH
  [75, 'relocate'], // UNKNOWN_LEADER_EPOCH
  [78, 'relocate'], // OFFSET_NOT_AVAILABLE
  [100, 'recheckTopic'], // UNKNOWN_TOPIC_ID
  [103, 'recheckTopic'], // INCONSISTENT_TOPIC_ID
])

/** The reaction to a code; a code nobody foresaw is retried for a bounded time and then reported, never ignored. */
export function fetchReactionTo(code: number): FetchReaction {
  return REACTIONS.get(code) ?? 'retryBounded'
}
