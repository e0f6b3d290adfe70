import type { Clock } from '../model/clock.ts'
import type { CommitSchedule } from './commit-schedule.ts'
import type { TaskRegistry } from './task-registry.ts'

/** Idle turns look around this often even if nothing wakes them. */
const IDLE_MS_MAX = 500

/** What may come due while a thread waits. */
export interface IdleTimeParts {
  readonly clock: Pick<Clock, 'nowMs' | 'wallClockMs'>
  readonly schedule: Pick<CommitSchedule, 'nextMs'>
  readonly tasks: Pick<TaskRegistry, 'nextPunctuationMs' | 'idleUntilMs'>
}

/** What a thread that waits has left. */
export interface IdleWork {
  /** Whether there is anything to commit. */
  readonly isUncommitted: boolean
  /** Whether nothing is left to process for now; where something is and cannot be had, commits are not early. */
  readonly isIdle: boolean
  /** Whether records and punctuations would be processed. */
  readonly mayProcess: boolean
}

/**
 * How long a thread with nothing to process may wait, in ms. What the next turn would not do is not waited for: the loop
 * would turn without a pause once its time had come.
 */
export function idleTimeMs(
  { clock, schedule, tasks }: IdleTimeParts,
  { isUncommitted, isIdle, mayProcess }: IdleWork,
): number {
  const nowMs = clock.nowMs()
  const untilCommit = isUncommitted ? schedule.nextMs(isIdle) - nowMs : IDLE_MS_MAX
  if (!mayProcess) return Math.max(0, Math.min(IDLE_MS_MAX, untilCommit))
  const untilPunctuation = tasks.nextPunctuationMs() - clock.wallClockMs()
  return Math.max(0, Math.min(IDLE_MS_MAX, untilCommit, untilPunctuation, tasks.idleUntilMs() - nowMs))
}
