import { expect } from 'chai'
import {
  mayBeMember,
  needsHeartbeats,
  nextMemberState,
  type MemberEvent,
  type MemberState,
} from '../../../../src/kafka/group/member-state.ts'

const STATES: readonly MemberState[] = [
  'unjoined',
  'joining',
  'syncing',
  'stable',
  'rebalanceNeeded',
  'lost',
  'replaced',
  'failed',
  'leaving',
  'closed',
]

describe('group member states', () => {
  it('go from joining to stable and round again', () => {
    const walk: readonly (readonly [MemberEvent, MemberState])[] = [
      ['joinRequested', 'joining'],
      ['joinAnswered', 'syncing'],
      ['syncAnswered', 'stable'],
      ['rebalanceAnswered', 'rebalanceNeeded'],
      ['joinRequested', 'joining'],
      ['joinAnswered', 'syncing'],
      ['rebalanceAnswered', 'rebalanceNeeded'],
      ['membershipLost', 'lost'],
      ['lossTaken', 'unjoined'],
      ['joinRequested', 'joining'],
      ['instanceTaken', 'replaced'],
      ['leaveRequested', 'leaving'],
      ['closeRequested', 'closed'],
    ]
    let state: MemberState = 'unjoined'
    for (const [event, expected] of walk) {
      state = nextMemberState(state, event)
      expect(state, event).to.equal(expected)
    }
  })

  it('can be asked to join, to leave and to close in every state', () => {
    for (const state of STATES) {
      expect(STATES).to.include(nextMemberState(state, 'joinRequested'))
      expect(['leaving', 'closed']).to.include(nextMemberState(state, 'leaveRequested'))
      expect(nextMemberState(state, 'closeRequested')).to.equal('closed')
    }
  })

  it('start no join where one is outstanding, where a loss was not taken, and at the end', () => {
    const joining = STATES.filter(state => nextMemberState(state, 'joinRequested') === 'joining' && state !== 'joining')
    expect(joining).to.deep.equal(['unjoined', 'stable', 'rebalanceNeeded'])
  })

  it('name the state and the event of an illegal move', () => {
    expect(() => nextMemberState('stable', 'joinAnswered')).to.throw(/stable.*joinAnswered/)
    expect(() => nextMemberState('closed', 'membershipLost')).to.throw('group member state')
  })

  it('need heartbeats from the JoinGroup answer until the next JoinGroup', () => {
    expect(STATES.filter(needsHeartbeats)).to.deep.equal(['syncing', 'stable', 'rebalanceNeeded'])
  })

  it('may leave a membership behind unless there was none or another process has it', () => {
    expect(STATES.filter(state => !mayBeMember(state))).to.deep.equal(['unjoined', 'replaced', 'leaving', 'closed'])
  })
})
