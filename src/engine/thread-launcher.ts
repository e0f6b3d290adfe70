import type { Clock, Random } from '../model/clock.ts'
import type { Logger } from '../model/logger.ts'
import type { EngineConfig } from '../config/engine-config.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { ApplicationSource } from './application-source.ts'
import { InlineThread } from './inline-thread.ts'
import { SpareWorker } from './spare-worker.ts'
import type { ThreadHandle, ThreadReports } from './thread-handle.ts'
import type { ThreadIdentity } from './thread-parts.ts'
import type { PreparedTopics } from './topic-preparation.ts'
import { WorkerThread } from './worker-thread.ts'

/** Everything a stream thread is started with. */
export interface ThreadLaunch {
  readonly name: string
  readonly source: ApplicationSource
  /** A worker that loads the application already. @default a new one */
  readonly worker?: SpareWorker | undefined
  readonly config: EngineConfig
  readonly plan: ApplicationPlan
  readonly topics: PreparedTopics
  readonly identity: ThreadIdentity
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** Starts a stream thread: in a worker of its own, or, for a topology given as an object, on the caller's thread. */
export function launchThread(launch: ThreadLaunch, reports: ThreadReports): ThreadHandle {
  const { source, name, identity, topics, clock, logger } = launch
  if (source.kind === 'inline') return new InlineThread(launch, reports)
  const worker = launch.worker ?? new SpareWorker(source)
  return new WorkerThread(worker, { name, identity, topics }, { clock, logger, reports })
}
