import type { Clock, Random } from '../model/clock.ts'
import type { Logger } from '../model/logger.ts'
import type { EngineConfig } from '../config/engine-config.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { RestoreProgress } from './changelog-restorer.ts'
import type { ThreadIdentity } from './thread-parts.ts'
import type { ThreadState } from './thread-state.ts'
import type { PreparedTopics } from './topic-preparation.ts'

/** What a thread tells its supervisor. */
export interface ThreadListeners {
  readonly onState: (state: ThreadState, previous: ThreadState) => void
  readonly onCommit: (records: number) => void
  readonly onRestore: (progress: RestoreProgress) => void
}

/** Everything a stream thread is made of; nothing of it is shared with another one. */
export interface StreamThreadOptions {
  readonly name: string
  readonly config: EngineConfig
  readonly plan: ApplicationPlan
  readonly topics: PreparedTopics
  readonly identity: ThreadIdentity
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly listeners: ThreadListeners
}
