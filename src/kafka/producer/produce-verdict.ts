import type { MillraceError } from '../../model/errors.ts'
import { reactionTo } from '../error-reactions.ts'
import type { OutgoingBatch } from './outgoing-batch.ts'
import type { PartitionLane } from './partition-lane.ts'
import { brokerFailure } from './producer-failure.ts'

const DUPLICATE_SEQUENCE_NUMBER = 46
const OUT_OF_ORDER_SEQUENCE_NUMBER = 45

/** Codes that say somebody else leads the partition now, or nobody for a moment. */
export const REFRESHES_LEADER: ReadonlySet<number> = new Set([3, 5, 6, 9, 56, 74, 75, 76])

/** Codes that prove that nothing was appended, so that even a producer without idempotence may send again. */
const NOT_APPENDED: ReadonlySet<number> = new Set([3, 5, 6, 9, 19, 56, 74, 75, 76, 89])

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

/** What becomes of a batch after its partition's answer (docs/reliability.md, "Error code → reaction"). */
export function judgeProduce({ code, message, lane, batch, idempotent }: ProduceAnswer): ProduceVerdict {
  // 46: an earlier attempt had arrived.
  if (code === 0 || code === DUPLICATE_SEQUENCE_NUMBER) return { type: 'acknowledged' }
  if (idempotent) {
    if (reactionTo(code, 'produce') === 'retry') return { type: 'again' }
    // The batch before it came back, so the broker misses that one's sequences; both go again, in order.
    if (code === OUT_OF_ORDER_SEQUENCE_NUMBER && lane.sent[0] !== batch) return { type: 'again' }
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
