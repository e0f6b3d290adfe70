import { InvariantError } from '../model/assert.ts'

/** State of an instance. Kafka Streams: `KafkaStreams.State`. */
export type StreamsState =
  'created' | 'rebalancing' | 'running' | 'paused' | 'closing' | 'closed' | 'failing' | 'failed'

/** What happens to an instance. */
export type StreamsEvent =
  'start' | 'threadJoining' | 'allRunning' | 'pause' | 'resume' | 'close' | 'threadFailed' | 'allStopped'

const NEXT: Record<StreamsState, Record<StreamsEvent, StreamsState | 'illegal'>> = {
  created: {
    start: 'rebalancing',
    threadJoining: 'illegal',
    allRunning: 'illegal',
    pause: 'illegal',
    resume: 'illegal',
    close: 'closing',
    threadFailed: 'failing',
    allStopped: 'illegal',
  },
  rebalancing: {
    start: 'illegal',
    threadJoining: 'rebalancing',
    allRunning: 'running',
    pause: 'paused',
    resume: 'rebalancing',
    close: 'closing',
    threadFailed: 'failing',
    allStopped: 'illegal',
  },
  running: {
    start: 'illegal',
    threadJoining: 'rebalancing',
    allRunning: 'running',
    pause: 'paused',
    resume: 'running',
    close: 'closing',
    threadFailed: 'failing',
    allStopped: 'illegal',
  },
  paused: {
    start: 'illegal',
    threadJoining: 'paused',
    allRunning: 'paused',
    pause: 'paused',
    resume: 'rebalancing',
    close: 'closing',
    threadFailed: 'failing',
    allStopped: 'illegal',
  },
  closing: {
    start: 'illegal',
    threadJoining: 'closing',
    allRunning: 'closing',
    pause: 'closing',
    resume: 'closing',
    close: 'closing',
    threadFailed: 'failing',
    allStopped: 'closed',
  },
  closed: {
    start: 'illegal',
    threadJoining: 'illegal',
    allRunning: 'illegal',
    pause: 'illegal',
    resume: 'illegal',
    close: 'closed',
    threadFailed: 'illegal',
    allStopped: 'closed',
  },
  failing: {
    start: 'illegal',
    threadJoining: 'failing',
    allRunning: 'failing',
    pause: 'failing',
    resume: 'failing',
    close: 'failing',
    threadFailed: 'failing',
    allStopped: 'failed',
  },
  failed: {
    start: 'illegal',
    threadJoining: 'illegal',
    allRunning: 'illegal',
    pause: 'illegal',
    resume: 'illegal',
    close: 'failed',
    threadFailed: 'failed',
    allStopped: 'failed',
  },
}

/** Moves on, or throws naming both. */
export function nextStreamsState(state: StreamsState, event: StreamsEvent): StreamsState {
  const next = NEXT[state][event]
  if (next === 'illegal') throw new InvariantError('instance state', { state, event })
  return next
}
