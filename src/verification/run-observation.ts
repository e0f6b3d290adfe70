import type { ErrorPolicies } from '../model/record-failure.ts'
import type { TopicPartitionMap } from '../model/topic-partition.ts'
import type { OffsetAndMetadata } from '../kafka/offset-and-metadata.ts'
import type { ApplicationPlan } from '../topology/plan.ts'
import type { ProcessingGuarantee } from '../topology/properties.ts'
import type { HistoryEvent } from './history.ts'
import type { JoinObservation } from './join-observation.ts'
import type { ObservedLogs } from './observed-log.ts'
import type { OffsetHistory } from './offset-history.ts'
import type { TotalsObservation } from './totals-observation.ts'

/** The application that ran. */
export interface ObservedApplication {
  readonly plan: ApplicationPlan
  readonly policies: ErrorPolicies
  readonly guarantee: ProcessingGuarantee
  /** Whether it was run with `provenance.headers`. */
  readonly hasProvenance: boolean
}

/** Entries of a local store, as its owner dumped them at the stop. */
export interface StoreDump {
  readonly store: string
  readonly partition: number
  /** Key and value in the changelog's own bytes. */
  readonly entries: readonly (readonly [key: Buffer, value: Buffer])[]
}

/** Counters of what must have happened, else the run proves nothing. */
export interface Occurrences {
  /** At least so often. */
  readonly required: Readonly<Record<string, number>>
  readonly seen: Readonly<Record<string, number>>
}

/** Times of the run, in ms of one clock. */
export interface RecoveryTimes {
  readonly healedAtMs: number
  /** When the lag was 0; `undefined` = never. */
  readonly caughtUpAtMs: number | undefined
  /** Session timeout, transaction timeout, the brokers' reaper interval and the restore together. */
  readonly boundMs: number
}

/** Everything a verdict is made of. Nothing here was read through the engine's own fetcher. */
export interface RunObservation {
  readonly application: ObservedApplication
  /** Logs of every topic the application reads and writes; a topic that does not exist is absent. */
  readonly logs: ObservedLogs
  /** The group's offsets, read with requireStable after the application had stopped. */
  readonly committed: TopicPartitionMap<OffsetAndMetadata>
  /** Every offset commit of the group, from its own log; `undefined` when that may not be read. */
  readonly offsetHistory: OffsetHistory | undefined
  /** What keeps the run from being judged, such as an open transaction: one sentence each. */
  readonly unsettled: readonly string[]
  /** Whether the application committed while its logs were read: they then show several moments. */
  readonly hasMoved?: boolean
  /** Where each input began to be read. @default its first offset, 0 */
  readonly beginnings?: TopicPartitionMap<number>
  /** `max.message.bytes` of the written topics. */
  readonly maxMessageBytes?: ReadonlyMap<string, number>
  /** What a second reader saw during the run. */
  readonly history?: readonly HistoryEvent[]
  readonly stores?: readonly StoreDump[]
  readonly totals?: TotalsObservation
  readonly joins?: readonly JoinObservation[]
  readonly recovery?: RecoveryTimes
  readonly occurrences?: Occurrences
}
