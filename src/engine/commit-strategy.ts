import type { TopicPartition } from '../model/topic-partition.ts'
import type { ProcessingGuarantee } from '../topology/properties.ts'
import type { MillraceError } from '../model/errors.ts'

/** Why a commit happens; a label of the commit metrics. */
export type CommitReason = 'interval' | 'requested' | 'age' | 'size' | 'rebalance' | 'restore' | 'shutdown'

/** What a commit did. `nothing`: there was neither progress nor output, and no request was sent. */
export type CommitOutcome = 'committed' | 'nothing'

/** A fetched block that is about to be handed to a task. */
export interface AdmittedBlock {
  readonly topicPartition: TopicPartition
  /** First offset behind the block. */
  readonly endOffset: number
}

/** When offsets, outputs and state become visible relative to each other. One per `processing.guarantee`. */
export interface CommitStrategy {
  readonly guarantee: ProcessingGuarantee
  /** Before blocks reach their tasks. At-most-once gives their offsets away here; the others have nothing to do (`undefined`). */
  admit(blocks: readonly AdmittedBlock[]): Promise<void> | undefined
  /** Makes everything since the last commit durable. @throws MillraceError whose reaction says what must happen next */
  commit(reason: CommitReason): Promise<CommitOutcome>
  /** Undoes everything since the last commit: outputs, stores, variables and read positions. @throws MillraceError when even that is not possible */
  abort(cause: MillraceError): Promise<void>
}
