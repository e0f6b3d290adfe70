import type { Deadline } from '../cluster/deadline.ts'
import type { SendGate } from './send-gate.ts'
import type { TransactionState } from './transaction-state.ts'

/** As whom a producer sends, and what that allows: with transactions, idempotent only, or plain. */
export interface ProducerSession extends SendGate {
  readonly state: TransactionState
  /** Gets a producer id where one is needed. @throws MillraceError */
  initialize(deadline: Deadline): Promise<void>
  /** A request of the current transaction got no answer. */
  noteUnsure(): void
  /** A batch was refused with this code; 0 for none. */
  noteFailure(kafkaCode: number): void
  /**
   * Undoes what was sent since the last end, as far as that can be undone; afterwards a new beginning is possible.
   *
   * @param gap - sequences were used for batches that are forgotten now
   * @throws MillraceError
   */
  abort(deadline: Deadline, gap: boolean): Promise<void>
}
