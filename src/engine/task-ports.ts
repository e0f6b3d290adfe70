import type { Logger } from '../model/logger.ts'
import type { DropReason, ErrorPolicies, RecordFailure, RecordReaction } from '../model/record-failure.ts'
import type { RecordMetadata } from '../model/record.ts'
import type { TopicPartition } from '../model/topic-partition.ts'
import type { StreamsProperties } from '../topology/properties.ts'
import type { IdleWait } from './idle-wait.ts'
import type { RecordCollector } from './record-collector.ts'
import type { SharedGlobals } from './task-stores.ts'

/** What marking records with their provenance takes. */
export interface ProvenancePorts {
  /** Number of the transaction that is being written. */
  transaction(): number
  /** Committed offset of an input; 0 without one. */
  committed(input: TopicPartition): number
}

/** What a task needs of its surroundings. */
export interface TaskPorts {
  readonly collector: RecordCollector
  readonly logger: Logger
  /** @param at - source record of the last of them; overwritten after the call */
  dropped(reason: DropReason, count?: number, at?: RecordMetadata): void
  wallClockMs(): number
  requestCommit(): void
  /** Makes the call of a punctuation, and takes its time. @default the call alone */
  timed?(punctuation: () => void): void
  /** Told of each failed record and what became of it. */
  failed?(failure: RecordFailure, reaction: RecordReaction): void
  /** Waits for inputs that have nothing queued. @default none are waited for */
  readonly idle?: IdleWait | undefined
  /** Where records are to say where they come from. */
  readonly provenance?: ProvenancePorts | undefined
}

/** What a task is configured by. */
export interface TaskOptions {
  readonly policies: ErrorPolicies
  readonly properties: Partial<StreamsProperties>
  readonly sharedGlobals?: SharedGlobals | undefined
}
