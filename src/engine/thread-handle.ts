import type { MillraceError } from '../model/errors.ts'
import type { RestoreProgress } from './changelog-restorer.ts'
import type { StateAnswer, StateQuestion } from './state-question.ts'
import type { TaskInfo } from './task-info.ts'
import type { StopOptions } from './thread-shutdown.ts'
import type { ThreadSnapshot } from './thread-metrics.ts'
import type { ThreadState } from './thread-state.ts'

/** What a thread reports, wherever it runs. */
export interface ThreadReports {
  readonly onState: (state: ThreadState, previous: ThreadState) => void
  readonly onCommit: (records: number) => void
  readonly onRestore: (progress: RestoreProgress) => void
  /** The thread ended; with an error when it failed. */
  readonly onEnd: (error: MillraceError | undefined) => void
}

/** A stream thread as its supervisor sees it: a worker, or a loop on the caller's own thread. */
export interface ThreadHandle {
  readonly name: string
  readonly state: ThreadState
  stop(options: StopOptions): void
  pause(paused: boolean): void
  /** Has the group told that every member is to stop; the thread itself stops with `SHUTDOWN_REQUESTED` then. */
  askForShutdown(): void
  /** `undefined` when the thread does not answer: its event loop is blocked, or it has ended. */
  snapshot(): Promise<ThreadSnapshot | undefined>
  /** What its tasks do; of a worker, as it told last: at each change of state, and at most a quarter of a second ago. */
  tasks(): readonly TaskInfo[]
  /** Asks about committed state. @throws MillraceError `STATE_NOT_READY` when the thread ends or does not answer in time */
  read(question: StateQuestion): Promise<StateAnswer>
  /** Milliseconds since its loop last turned. */
  turnAgeMs(): number
}
