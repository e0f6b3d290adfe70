import { ERROR_CODE } from '../protocol/error-codes.ts'

/**
 * What the fetcher does about a partition's error code. `relocate`: find the leader again and go on, without end,
 * because brokers come back; `recheckTopic`: the same, but for a bounded time, after which the topic counts as gone;
 * `outOfRange`, `notAuthorized`: a failure for the engine at once; `retryBounded`: try again for a bounded time, then fail.
 */
export type FetchReaction = 'none' | 'relocate' | 'recheckTopic' | 'outOfRange' | 'notAuthorized' | 'retryBounded'

/** By Kafka's error code (class `Errors`); reliability of each row: KIP-320, KIP-516 and the consumer's `FetchCollector`. */
const REACTIONS: ReadonlyMap<number, FetchReaction> = new Map<number, FetchReaction>([
  [ERROR_CODE.NONE, 'none'],
  [ERROR_CODE.OFFSET_OUT_OF_RANGE, 'outOfRange'],
  [ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION, 'recheckTopic'],
  [ERROR_CODE.LEADER_NOT_AVAILABLE, 'relocate'],
  [ERROR_CODE.NOT_LEADER_OR_FOLLOWER, 'relocate'],
  [ERROR_CODE.REQUEST_TIMED_OUT, 'relocate'],
  [ERROR_CODE.BROKER_NOT_AVAILABLE, 'relocate'],
  [ERROR_CODE.REPLICA_NOT_AVAILABLE, 'relocate'],
  [ERROR_CODE.NETWORK_EXCEPTION, 'relocate'],
  [ERROR_CODE.TOPIC_AUTHORIZATION_FAILED, 'notAuthorized'],
  [ERROR_CODE.KAFKA_STORAGE_ERROR, 'relocate'],
  [ERROR_CODE.FENCED_LEADER_EPOCH, 'relocate'],
  [ERROR_CODE.UNKNOWN_LEADER_EPOCH, 'relocate'],
  [ERROR_CODE.OFFSET_NOT_AVAILABLE, 'relocate'],
  [ERROR_CODE.UNKNOWN_TOPIC_ID, 'recheckTopic'],
  [ERROR_CODE.INCONSISTENT_TOPIC_ID, 'recheckTopic'],
])

/** The reaction to a code; a code nobody foresaw is retried for a bounded time and then reported, never ignored. */
export function fetchReactionTo(code: number): FetchReaction {
  return REACTIONS.get(code) ?? 'retryBounded'
}
