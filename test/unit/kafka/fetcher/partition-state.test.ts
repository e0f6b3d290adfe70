import { expect } from 'chai'
import { nextPartitionState } from '../../../../src/kafka/fetcher/partition-state.ts'

describe('the state of a fetched partition', () => {
  it('goes from locating its leader over the check of its position to ready, and back when the leader is lost', () => {
    let state = nextPartitionState('locating', 'epochChanged')
    expect(state).to.equal('validating')
    state = nextPartitionState(state, 'validated')
    expect(state).to.equal('ready')
    expect(nextPartitionState(state, 'leaderLost')).to.equal('locating')
  })

  it('stays failed until somebody seeks', () => {
    expect(nextPartitionState('failed', 'moved')).to.equal('locating')
    for (const event of ['located', 'epochChanged', 'validated', 'leaderLost', 'failed'] as const) {
      expect(() => nextPartitionState('failed', event), event).to.throw('cannot take')
    }
  })
})
