import { InvariantError } from '../model/assert.ts'

/** What a task is doing. Kafka Streams: `Task.State`. */
export type TaskState = 'created' | 'restoring' | 'running' | 'suspended' | 'closed'

/** What happens to a task. */
export type TaskEvent = 'positioned' | 'restored' | 'revoked' | 'closed'

const NEXT: Record<TaskState, Record<TaskEvent, TaskState | 'illegal'>> = {
  created: { positioned: 'restoring', restored: 'illegal', revoked: 'suspended', closed: 'closed' },
  restoring: { positioned: 'illegal', restored: 'running', revoked: 'suspended', closed: 'closed' },
  running: { positioned: 'illegal', restored: 'illegal', revoked: 'suspended', closed: 'closed' },
  suspended: { positioned: 'illegal', restored: 'illegal', revoked: 'suspended', closed: 'closed' },
  closed: { positioned: 'illegal', restored: 'illegal', revoked: 'illegal', closed: 'closed' },
}

/** Moves on, or throws naming both: a wrong move is a bug here, never a condition of Kafka. */
export function nextTaskState(state: TaskState, event: TaskEvent): TaskState {
  const next = NEXT[state][event]
  if (next === 'illegal') throw new InvariantError('task state', { state, event })
  return next
}
