import { expect } from 'chai'
import { InvariantError } from '../../../../src/model/assert.ts'
import {
  nextTransactionState,
  type TransactionEvent,
  type TransactionState,
} from '../../../../src/kafka/producer/transaction-state.ts'

const STATES: readonly TransactionState[] = [
  'uninitialized',
  'idle',
  'open',
  'committing',
  'unknown',
  'aborting',
  'fenced',
]

function walk(...events: TransactionEvent[]): TransactionState {
  return events.reduce<TransactionState>((state, event) => nextTransactionState(state, event), 'uninitialized')
}

function allows(state: TransactionState, event: TransactionEvent): boolean {
  try {
    nextTransactionState(state, event)
    return true
  } catch (error) {
    if (error instanceof InvariantError) return false
    throw error
  }
}

describe('transaction state', () => {
  it('goes through a commit and back to idle', () => {
    expect(walk('initialized', 'begun', 'commitSent', 'committed')).to.equal('idle')
  })

  it('can be aborted after the broker refused the commit', () => {
    expect(walk('initialized', 'begun', 'commitSent', 'refused', 'abortStarted', 'aborted')).to.equal('idle')
  })

  it('leaves an unknown outcome only by a new epoch or by being fenced (I9, I10)', () => {
    const events: readonly TransactionEvent[] = [
      'begun',
      'commitSent',
      'committed',
      'answerLost',
      'refused',
      'abortStarted',
      'aborted',
    ]
    expect(walk('initialized', 'begun', 'commitSent', 'answerLost')).to.equal('unknown')
    expect(events.filter(event => allows('unknown', event))).to.deep.equal([])
    expect(nextTransactionState('unknown', 'initialized')).to.equal('idle')
    expect(nextTransactionState('unknown', 'fencedByOther')).to.equal('fenced')
  })

  it('begins a transaction only when idle', () => {
    expect(STATES.filter(state => allows(state, 'begun'))).to.deep.equal(['idle'])
  })

  it('commits only what is open', () => {
    expect(STATES.filter(state => allows(state, 'commitSent'))).to.deep.equal(['open'])
  })

  it('lets a fenced producer do nothing but become the owner anew', () => {
    expect(walk('initialized', 'fencedByOther')).to.equal('fenced')
    expect(allows('fenced', 'abortStarted')).to.equal(false)
    expect(nextTransactionState('fenced', 'initialized')).to.equal('idle')
  })

  it('names state and event of a wrong move', () => {
    expect(() => nextTransactionState('idle', 'committed'))
      .to.throw(InvariantError)
      .with.property('message')
      .that.includes('state="idle" event="committed"')
  })
})
