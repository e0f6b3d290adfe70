import { InvariantError } from '../model/assert.ts'

/** What a stream thread is doing. Kafka Streams: `StreamThread.State`. */
export type ThreadState = 'created' | 'starting' | 'rebalancing' | 'running' | 'stopping' | 'stopped' | 'failed'

/** What happens to a stream thread. */
export type ThreadEvent = 'start' | 'joining' | 'allRunning' | 'stopRequested' | 'ended' | 'failed'

const NEXT: Record<ThreadState, Record<ThreadEvent, ThreadState | 'illegal'>> = {
  created: {
    start: 'starting',
    joining: 'illegal',
    allRunning: 'illegal',
    stopRequested: 'stopping',
    ended: 'illegal',
    failed: 'failed',
  },
  starting: {
    start: 'illegal',
    joining: 'rebalancing',
    allRunning: 'illegal',
    stopRequested: 'stopping',
    ended: 'illegal',
    failed: 'failed',
  },
  rebalancing: {
    start: 'illegal',
    joining: 'rebalancing',
    allRunning: 'running',
    stopRequested: 'stopping',
    ended: 'illegal',
    failed: 'failed',
  },
  running: {
    start: 'illegal',
    joining: 'rebalancing',
    allRunning: 'running',
    stopRequested: 'stopping',
    ended: 'illegal',
    failed: 'failed',
  },
  stopping: {
    start: 'illegal',
    joining: 'stopping',
    allRunning: 'stopping',
    stopRequested: 'stopping',
    ended: 'stopped',
    failed: 'failed',
  },
  stopped: {
    start: 'illegal',
    joining: 'illegal',
    allRunning: 'illegal',
    stopRequested: 'stopped',
    ended: 'stopped',
    failed: 'illegal',
  },
  failed: {
    start: 'illegal',
    joining: 'illegal',
    allRunning: 'illegal',
    stopRequested: 'failed',
    ended: 'failed',
    failed: 'failed',
  },
}

/** Moves on, or throws naming both: a wrong move is a bug here, never a condition of Kafka. */
export function nextThreadState(state: ThreadState, event: ThreadEvent): ThreadState {
  const next = NEXT[state][event]
  if (next === 'illegal') throw new InvariantError('thread state', { state, event })
  return next
}
