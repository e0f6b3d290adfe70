import type { WorkerSource } from './application-source.ts'
import { InlineThread } from './inline-thread.ts'
import { SpareWorker } from './spare-worker.ts'
import type { ThreadHandle, ThreadReports } from './thread-handle.ts'
import type { StreamThreadOptions } from './thread-options.ts'
import { WorkerThread } from './worker-thread.ts'

/** Everything a stream thread is started with. */
export interface ThreadLaunch extends Omit<StreamThreadOptions, 'listeners'> {
  /** Where a worker takes the application from; `undefined` where it cannot leave this thread. */
  readonly source: WorkerSource | undefined
  /** A worker that loads the application already. @default a new one */
  readonly worker?: SpareWorker | undefined
}

/** Starts a stream thread: in a worker of its own, or, for a topology given as an object, on the caller's thread. */
export function launchThread(launch: ThreadLaunch, reports: ThreadReports): ThreadHandle {
  const { source, name, identity, topics, clock, logger } = launch
  if (source === undefined) return new InlineThread(launch, reports)
  const worker = launch.worker ?? new SpareWorker(source)
  return new WorkerThread(worker, { name, identity, topics }, { clock, logger, reports })
}
