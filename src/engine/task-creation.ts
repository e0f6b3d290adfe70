import { idleWaitOf } from './idle-wait.ts'
import type { CommitSchedule } from './commit-schedule.ts'
import type { GlobalTables } from './global-tables.ts'
import type { ProducerCollector } from './producer-collector.ts'
import { provenancePorts } from './provenance-ports.ts'
import { StreamTask } from './stream-task.ts'
import type { TaskPlace, TaskRegistry } from './task-registry.ts'
import type { ThreadMetrics } from './thread-metrics.ts'
import type { StreamThreadOptions } from './thread-options.ts'
import type { ThreadClients } from './thread-parts.ts'
import type { TransactionNumbers } from './transaction-numbers.ts'

/** What a task takes from its thread. */
export interface TaskSurroundings
  extends Pick<StreamThreadOptions, 'config' | 'logger' | 'clock'>, Pick<ThreadClients, 'fetcher'> {
  readonly collector: ProducerCollector
  readonly globals: GlobalTables
  readonly metrics: ThreadMetrics
  readonly schedule: CommitSchedule
  readonly registry: TaskRegistry
  readonly transactionNumbers: TransactionNumbers
}

/** The task of one subtopology and partition; it begins when its stores are restored. */
export function createTask({ subtopology, partition }: TaskPlace, thread: TaskSurroundings): StreamTask {
  const { config, logger, clock, metrics } = thread
  return new StreamTask(
    subtopology,
    partition,
    { policies: config.errors, properties: config.streamsProperties, sharedGlobals: thread.globals.stores },
    {
      collector: thread.collector,
      logger,
      dropped: (reason, count, at) => metrics.dropped(reason, count, at),
      timed: punctuation => metrics.punctuate(punctuation, clock),
      wallClockMs: () => clock.wallClockMs(),
      requestCommit: thread.schedule.request,
      idle: idleWaitOf(config.maxTaskIdleMs, subtopology, partition, thread.fetcher, clock),
      provenance: config.provenanceHeaders ? provenancePorts(thread.transactionNumbers, thread.registry) : undefined,
    },
  )
}
