import { InvariantError } from '../../model/assert.ts'

/**
 * What the producer's one transaction is doing. `uninitialized`: there is no producer id yet. `idle`: a new transaction
 * may begin. `unknown`: EndTxn(commit) went out and its outcome was not learnt. `fenced`: another process owns the
 * transactional id. Kafka: `TransactionManager.State`.
 */
export type TransactionState = 'uninitialized' | 'idle' | 'open' | 'committing' | 'unknown' | 'aborting' | 'fenced'

/**
 * What can happen to it. `initialized`: InitProducerId answered, whatever was open before is aborted by it. `begun`: the
 * first request of a transaction is about to be sent. `refused`: EndTxn(commit) was answered with an error that says it
 * was not done.
 */
export type TransactionEvent =
  | 'initialized'
  | 'begun'
  | 'commitSent'
  | 'committed'
  | 'answerLost'
  | 'refused'
  | 'abortStarted'
  | 'aborted'
  | 'fencedByOther'

type Row = Readonly<Record<TransactionEvent, TransactionState | 'illegal'>>

const ILLEGAL: Row = {
  initialized: 'illegal',
  begun: 'illegal',
  commitSent: 'illegal',
  committed: 'illegal',
  answerLost: 'illegal',
  refused: 'illegal',
  abortStarted: 'illegal',
  aborted: 'illegal',
  fencedByOther: 'illegal',
}

const NEXT: Readonly<Record<TransactionState, Row>> = {
  uninitialized: { ...ILLEGAL, initialized: 'idle', fencedByOther: 'fenced' },
  idle: { ...ILLEGAL, initialized: 'idle', begun: 'open', abortStarted: 'aborting', fencedByOther: 'fenced' },
  open: {
    ...ILLEGAL,
    initialized: 'idle',
    commitSent: 'committing',
    abortStarted: 'aborting',
    fencedByOther: 'fenced',
  },
  committing: { ...ILLEGAL, committed: 'idle', answerLost: 'unknown', refused: 'open', fencedByOther: 'fenced' },
  // No abort and no new transaction: a late EndTxn could end it (I9, I10). Only a new epoch leads out.
  unknown: { ...ILLEGAL, initialized: 'idle', fencedByOther: 'fenced' },
  aborting: { ...ILLEGAL, initialized: 'idle', abortStarted: 'aborting', aborted: 'idle', fencedByOther: 'fenced' },
  fenced: { ...ILLEGAL, initialized: 'idle', fencedByOther: 'fenced' },
}

/**
 * The state after an event.
 *
 * @throws InvariantError naming both when the event cannot happen there: a fault here, never a condition of Kafka
 */
export function nextTransactionState(state: TransactionState, event: TransactionEvent): TransactionState {
  const next = NEXT[state][event]
  if (next === 'illegal') throw new InvariantError('transaction state', { state, event })
  return next
}
