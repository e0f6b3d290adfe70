import { expect } from 'chai'
import { nextStreamsState } from '../../../src/engine/streams-state.ts'
import { nextTaskState } from '../../../src/engine/task-state.ts'
import { nextThreadState } from '../../../src/engine/thread-state.ts'

describe('state tables of the engine', () => {
  it('lead a task from its creation over the restore to running', () => {
    expect(nextTaskState(nextTaskState('created', 'positioned'), 'restored')).to.equal('running')
  })

  it('refuse to restore a task whose offsets are not known', () => {
    expect(() => nextTaskState('created', 'restored')).to.throw(/task state/)
  })

  it('refuse to use a closed task', () => {
    expect(() => nextTaskState('closed', 'positioned')).to.throw(/task state/)
  })

  it('keep a stopping thread stopping, whatever the group says', () => {
    expect(nextThreadState('stopping', 'allRunning')).to.equal('stopping')
    expect(nextThreadState('stopping', 'joining')).to.equal('stopping')
  })

  it('let an instance that fails while it closes end as failed', () => {
    expect(nextStreamsState(nextStreamsState('closing', 'threadFailed'), 'allStopped')).to.equal('failed')
  })

  it('refuse to start an instance twice', () => {
    expect(() => nextStreamsState('running', 'start')).to.throw(/instance state/)
  })
})
