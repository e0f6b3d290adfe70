import type { TransactionState } from './transaction-state.ts'

/** What the open transaction has come to. */
export interface TransactionProgress {
  readonly state: TransactionState
  /** Monotonic time at which it was opened on the broker; `undefined` while it is not. */
  readonly openedAtMs: number | undefined
  /** Records appended since the last end. */
  readonly records: number
  /** Bytes of those, before compression. */
  readonly bytes: number
  /** Whether anything was appended or sent since the last end. */
  readonly ongoing: boolean
}
