import type { Logger } from '../model/logger.ts'
import type { DropReason, ErrorPolicies, RecordFailure, RecordReaction } from '../model/record-failure.ts'
import type { StreamsProperties } from '../topology/properties.ts'
import type { RecordCollector } from './record-collector.ts'
import type { SharedGlobals } from './task-stores.ts'

/** What a task needs of its surroundings. */
export interface TaskPorts {
  readonly collector: RecordCollector
  readonly logger: Logger
  dropped(reason: DropReason, count?: number): void
  wallClockMs(): number
  requestCommit(): void
  /** Told of each failed record and what became of it. */
  failed?(failure: RecordFailure, reaction: RecordReaction): void
}

/** What a task is configured by. */
export interface TaskOptions {
  readonly policies: ErrorPolicies
  readonly properties: Partial<StreamsProperties>
  readonly sharedGlobals?: SharedGlobals | undefined
}
