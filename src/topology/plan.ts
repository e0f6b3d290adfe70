import type { ErrorPolicies } from '../model/record-failure.ts'
import type { LoggedHeaders } from '../stores/changelog.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { GraphNode } from './graph-node.ts'
import type { OffsetReset } from './options.ts'
import type { StreamsProperties } from './properties.ts'
import type { TopologyDescription } from './topology-description.ts'

export type { OffsetReset } from './options.ts'

/** What a whole application consists of: a graph under given properties. */
export interface ApplicationPlan {
  readonly applicationId: string
  readonly properties: Partial<StreamsProperties>
  readonly subtopologies: readonly SubtopologyPlan[]
  readonly globalTables: readonly GlobalTablePlan[]
  /** What is odd but no mistake, one sentence each. */
  readonly warnings: readonly string[]
  describe(): TopologyDescription
}

/** One part of an application that is scheduled as tasks: one per partition of its inputs. */
export interface SubtopologyPlan {
  readonly applicationId: string
  readonly id: number
  readonly sources: readonly SourcePlan[]
  /** Topics it writes to that are named in the graph; internal ones are not among them. */
  readonly sinkTopics: readonly string[]
  /** Whether a step chooses topics per record. */
  readonly hasDynamicSinks: boolean
  /** Repartition topics it writes. */
  readonly repartitionTopics: readonly RepartitionTopicPlan[]
  readonly stores: readonly StorePlan[]
  /** Topics that must have equal partition counts, by group. */
  readonly copartitionGroups: readonly (readonly string[])[]
  /** Its nodes, parents first. */
  readonly nodes: readonly GraphNode[]
  /** Global tables its nodes look up. */
  readonly globalTables: readonly GlobalTablePlan[]
}

/** Topics a subtopology reads through one source. */
export interface SourcePlan {
  readonly name: string
  readonly topics: readonly string[]
  /** Repartition topics, created by the application. */
  readonly internal: boolean
  readonly offsetReset: OffsetReset
  readonly onOutOfRange: 'fail' | 'earliest' | 'latest'
  readonly asTable: boolean
  /** Policies of this source alone. */
  readonly errors: ErrorPolicies | undefined
  readonly node: GraphNode
}

/** A topic between two subtopologies. */
export interface RepartitionTopicPlan {
  readonly topic: string
  /** `undefined` = as many as the largest upstream topic. */
  readonly partitions: number | undefined
  readonly upstreamTopics: readonly string[]
}

/** A store of each task of a subtopology. */
export interface StorePlan {
  readonly name: string
  /** `undefined` without logging. */
  readonly changelogTopic: string | undefined
  readonly kind: StoreDefinition['kind']
  /** Configuration of the changelog topic. */
  readonly configs: Readonly<Record<string, string>>
  /** The table's own source topic serves as changelog: nothing is written to it. */
  readonly sourceTopicIsChangelog: boolean
  /** Most bytes its cache holds back until the commit; 0 without a cache. */
  readonly cacheBytes: number
  readonly definition: StoreDefinition
  readonly loggedHeaders: LoggedHeaders
}

/** A table every instance holds in full. */
export interface GlobalTablePlan {
  readonly topic: string
  readonly store: StoreDefinition
  readonly source: GraphNode
}
