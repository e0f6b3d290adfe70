import type { MillraceError } from '../../model/errors.ts'
import { reactionTo } from '../error-reactions.ts'
import { ERROR_CODE } from '../protocol/error-codes.ts'
import type { OutgoingBatch } from './outgoing-batch.ts'
import type { PartitionLane } from './partition-lane.ts'
import { brokerFailure } from './producer-failure.ts'

/** Codes that say somebody else leads the partition now, or nobody for a moment. */
export const REFRESHES_LEADER: ReadonlySet<number> = new Set<number>([
  ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION,
  ERROR_CODE.LEADER_NOT_AVAILABLE,
  ERROR_CODE.NOT_LEADER_OR_FOLLOWER,
  ERROR_CODE.REPLICA_NOT_AVAILABLE,
  ERROR_CODE.KAFKA_STORAGE_ERROR,
  ERROR_CODE.FENCED_LEADER_EPOCH,
  ERROR_CODE.UNKNOWN_LEADER_EPOCH,
  ERROR_CODE.UNSUPPORTED_COMPRESSION_TYPE,
])

/** Codes that prove that nothing was appended, so that even a producer without idempotence may send again. */
const NOT_APPENDED: ReadonlySet<number> = new Set<number>([
  ERROR_CODE.UNKNOWN_TOPIC_OR_PARTITION,
  ERROR_CODE.LEADER_NOT_AVAILABLE,
  ERROR_CODE.NOT_LEADER_OR_FOLLOWER,
  ERROR_CODE.REPLICA_NOT_AVAILABLE,
  ERROR_CODE.NOT_ENOUGH_REPLICAS,
  ERROR_CODE.KAFKA_STORAGE_ERROR,
  ERROR_CODE.FENCED_LEADER_EPOCH,
  ERROR_CODE.UNKNOWN_LEADER_EPOCH,
  ERROR_CODE.UNSUPPORTED_COMPRESSION_TYPE,
  ERROR_CODE.THROTTLING_QUOTA_EXCEEDED,
])

/** What becomes of a batch. */
export type ProduceVerdict =
  | { readonly type: 'acknowledged' }
  | { readonly type: 'again' }
  | { readonly type: 'dropped'; readonly cause: MillraceError }
  | { readonly type: 'failed'; readonly cause: MillraceError }

/** One partition's answer to a Produce request. */
export interface ProduceAnswer {
  readonly code: number
  readonly message: string | null
  readonly lane: PartitionLane
  readonly batch: OutgoingBatch
  readonly idempotent: boolean
}

/** What becomes of a batch after its partition's answer (docs/reliability.md, "Answers of a broker"). */
export function judgeProduce({ code, message, lane, batch, idempotent }: ProduceAnswer): ProduceVerdict {
  // 46: an earlier attempt had arrived.
  if (code === 0 || code === ERROR_CODE.DUPLICATE_SEQUENCE_NUMBER) return { type: 'acknowledged' }
  if (idempotent) {
    if (reactionTo(code, 'produce') === 'retry') return { type: 'again' }
    // The batch before it came back, so the broker misses that one's sequences; both go again, in order.
    if (code === ERROR_CODE.OUT_OF_ORDER_SEQUENCE_NUMBER && lane.sent[0] !== batch) return { type: 'again' }
  } else if (NOT_APPENDED.has(code)) {
    return { type: 'again' }
  }
  const text = message === null ? '' : `: ${message}`
  const cause = brokerFailure(code, 'produce', `A batch of ${String(batch.sealed.count)} records${text}`, {
    topic: lane.topic,
    partition: lane.partition,
  })
  return idempotent ? { type: 'failed', cause } : { type: 'dropped', cause }
}
