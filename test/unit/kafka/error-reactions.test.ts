import { expect } from 'chai'
import { type CallKind, type KafkaReaction, reactionTo } from '../../../src/kafka/error-reactions.ts'
import { KAFKA_ERRORS } from '../../../src/kafka/protocol/error-codes.ts'

const CALLS: readonly CallKind[] = ['produce', 'transaction', 'offsetCommit', 'group', 'metadata', 'fetch']
const EXACTLY_ONCE: readonly CallKind[] = ['produce', 'transaction', 'offsetCommit']

function expectReaction(codes: readonly number[], calls: readonly CallKind[], reaction: KafkaReaction): void {
  for (const code of codes) {
    for (const call of calls) expect(reactionTo(code, call), `${String(code)} on ${call}`).to.equal(reaction)
  }
}

describe('reactions to error codes', () => {
  it('retry what passes by itself: coordinators, leaders, replicas, throttling, pending transactions', () => {
    expectReaction([3, 5, 6, 7, 9, 13, 14, 15, 16, 19, 20, 51, 56, 74, 75, 78, 88, 89], CALLS, 'retry')
  })

  it('ask first whether an old epoch means a timeout or another owner', () => {
    expectReaction([47, 48, 90], EXACTLY_ONCE, 'askFirst')
  })

  it('ask first whether an unknown id was forgotten or given to another owner', () => {
    expectReaction([49], EXACTLY_ONCE, 'askFirst')
  })

  it('start with a new epoch after an abortable or unknown error, never by ending the process', () => {
    expectReaction([-1, 12, 45, 59, 120, 9_999], EXACTLY_ONCE, 'refence')
  })

  it('stop where a newer process has the instance id', () => {
    expectReaction([82], CALLS, 'replaced')
  })

  it('tell a rebalance from a lost membership', () => {
    expectReaction([22, 27], ['offsetCommit'], 'newGeneration')
    expectReaction([27], ['group'], 'newGeneration')
    expectReaction([22], ['group'], 'membershipLost')
    expectReaction([25, 69, 110, 113], ['offsetCommit', 'group'], 'membershipLost')
  })

  it('stop for rights, credentials, versions, and topics that are gone', () => {
    expectReaction([29, 30, 31, 53, 58, 35, 50, 100, 103], CALLS, 'stop')
    expectReaction([1], ['fetch'], 'stop')
  })

  it('leave a record that the broker refuses to its policy', () => {
    expectReaction([10, 18, 32, 87], ['produce'], 'record')
  })

  it('exist for every code and every call', () => {
    for (const code of Object.keys(KAFKA_ERRORS).map(Number)) {
      if (code === 0) continue
      for (const call of CALLS) expect(reactionTo(code, call)).to.be.a('string')
    }
  })

  it('are not asked for success', () => {
    expect(() => reactionTo(0, 'produce')).to.throw('a reaction is asked for an error')
  })
})
