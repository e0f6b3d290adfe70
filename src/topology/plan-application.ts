import { MillraceError } from '../model/errors.ts'
import type { LoggedHeaders } from '../stores/changelog.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { describeGraph } from './description.ts'
import { topologyInvalid, type Graph } from './graph.ts'
import type { GraphNode, SourceDefinition } from './graph-node.ts'
import type {
  ApplicationPlan,
  GlobalTablePlan,
  RepartitionTopicPlan,
  SourcePlan,
  StorePlan,
  SubtopologyPlan,
} from './plan.ts'
import type { OffsetReset } from './options.ts'
import { optimizationsOf } from './optimization.ts'
import type { StreamsProperties } from './properties.ts'
import { groupNodes, type NodeGroup } from './subtopologies.ts'
import { asBuiltTopology, type Topology } from './topology.ts'

/** Properties a graph is planned under. */
export type PlanProperties = Partial<StreamsProperties> & {
  readonly 'application.id': string
  /** Where a source without a policy of its own starts. @default 'earliest' */
  readonly 'auto.offset.reset'?: OffsetReset | undefined
}

/** Configuration of the changelog of a key-value store. Kafka Streams: `UnwindowedUnversionedChangelogTopicConfig`. */
const CHANGELOG_CONFIGS: Readonly<Record<string, string>> = {
  'cleanup.policy': 'compact',
  'message.timestamp.type': 'CreateTime',
}

/** Added to the retention of windowed changelogs: clocks of brokers and of events may differ. Kafka Streams: `windowstore.changelog.additional.retention.ms`. */
const ADDITIONAL_RETENTION_MS = 86_400_000

/** Configuration of a store's changelog. Kafka Streams: `WindowedChangelogTopicConfig`, `UnwindowedUnversionedChangelogTopicConfig`. */
function changelogConfigs(
  { kind, retentionMs }: StoreDefinition,
  properties: PlanProperties,
): Readonly<Record<string, string>> {
  if (retentionMs === undefined) return CHANGELOG_CONFIGS
  const additionalMs = properties['windowstore.changelog.additional.retention.ms'] ?? ADDITIONAL_RETENTION_MS
  const totalMs = Math.min(retentionMs + additionalMs, Number.MAX_SAFE_INTEGER)
  // Versions of a key must outlive the history a restore has to bring back. Kafka Streams: `VersionedChangelogTopicConfig`.
  if (kind === 'versioned') return { ...CHANGELOG_CONFIGS, 'min.compaction.lag.ms': String(totalMs) }
  return { ...CHANGELOG_CONFIGS, 'cleanup.policy': 'compact,delete', 'retention.ms': String(totalMs) }
}

/** Stores of results, which are cached unless they say otherwise; a user's own are cached only if they say so. */
const CACHED_KINDS: ReadonlySet<StoreDefinition['kind']> = new Set([
  'timestampedKeyValue',
  'timestampedWindow',
  'session',
])

/** The share of a store in the cache of a thread: all of its cached stores have equal ones. Kafka Streams: `statestore.cache.max.bytes`. */
function cacheBytesOf(definition: StoreDefinition, graph: Graph, properties: PlanProperties): number {
  const totalBytes = properties['statestore.cache.max.bytes'] ?? 0
  if (totalBytes === 0 || !isCached(definition)) return 0
  const threads = properties['num.stream.threads'] ?? 1
  const stores = [...graph.stores.values()].filter(isCached).length
  return Math.max(1, Math.floor(totalBytes / threads / stores))
}

function isCached({ kind, options, isUncached }: StoreDefinition): boolean {
  return CACHED_KINDS.has(kind) && isUncached !== true && (options.caching ?? true)
}

/**
 * Settles what depends on properties: topic names, changelogs, reset policies.
 *
 * @throws MillraceError `TOPOLOGY_INVALID` with every mistake, `STORE_NOT_ALLOWED` for state under at_most_once
 */
export function planApplication(topology: Topology, properties: PlanProperties): ApplicationPlan {
  const graph = asBuiltTopology(topology).graphFor(properties)
  checkStores(graph, properties)
  const warnings = checkNames(graph, properties)
  const groups = groupNodes(graph)
  const globalTables = groups.filter(group => group.isGlobal).flatMap(group => globalTablesOf(graph, group))
  return {
    applicationId: properties['application.id'],
    properties,
    subtopologies: groups
      .filter(group => !group.isGlobal)
      .map(group => planSubtopology(graph, group, properties, globalTables)),
    globalTables,
    warnings,
    describe: () => describeGraph(graph),
  }
}

/** An update that is given up is never repeated under at_most_once: what a store holds would stay wrong for good. */
function checkStores(graph: Graph, properties: PlanProperties): void {
  if (properties['processing.guarantee'] !== 'at_most_once' || graph.stores.size === 0) return
  const names = [...graph.stores.keys()].join(', ')
  throw new MillraceError('STORE_NOT_ALLOWED', {
    what: `at_most_once allows no state, and the topology keeps some: ${names}.`,
  })
}

/** Numbered names change when a step is inserted, and with them topics and their state. */
function checkNames(graph: Graph, properties: PlanProperties): readonly string[] {
  const problems = graph.numberedResources.map(
    name =>
      new MillraceError('NAME_REQUIRED', {
        node: name,
        what: `${name} is numbered, not named: inserting a step before it would rename it and lose what it holds.`,
      }),
  )
  if (properties['ensure.explicit.internal.resource.naming'] === true && problems.length > 0)
    throw topologyInvalid(problems)
  return problems.map(problem => problem.message)
}

function planSubtopology(
  graph: Graph,
  { id, nodes }: NodeGroup,
  properties: PlanProperties,
  globalTables: readonly GlobalTablePlan[],
): SubtopologyPlan {
  const applicationId = properties['application.id']
  const sources = nodes.flatMap(node => (node.source === undefined ? [] : [planSource(node, node.source, properties)]))
  const topics = sources.flatMap(source => source.topics)
  const sinks = nodes.flatMap(node => node.sink ?? [])
  const names = new Set(nodes.flatMap(node => [...node.stores]))
  return {
    applicationId,
    id,
    sources,
    sinkTopics: unique(sinks.flatMap(sink => (sink.internal || sink.topic === undefined ? [] : [sink.topic]))),
    hasDynamicSinks: sinks.some(sink => sink.topic === undefined),
    repartitionTopics: sinks.flatMap((sink): RepartitionTopicPlan[] =>
      sink.internal && sink.topic !== undefined
        ? [{ topic: `${applicationId}-${sink.topic}`, partitions: sink.partitions, upstreamTopics: topics }]
        : [],
    ),
    stores: [...names].flatMap(name => planStore(graph, name, properties)),
    copartitionGroups: copartitionGroups(graph, nodes, applicationId),
    nodes,
    globalTables,
  }
}

function planSource(node: GraphNode, source: SourceDefinition, properties: PlanProperties): SourcePlan {
  return {
    name: node.name,
    topics: topicsOf(source, properties['application.id']),
    internal: source.internal,
    offsetReset: source.offsetReset ?? properties['auto.offset.reset'] ?? 'earliest',
    onOutOfRange: source.onOutOfRange,
    asTable: source.role === 'table',
    errors: source.errors,
    node,
  }
}

function planStore(graph: Graph, name: string, properties: PlanProperties): readonly StorePlan[] {
  const definition = graph.stores.get(name)
  if (definition === undefined) return []
  const { logging } = definition.options
  const source = graph.sourceStores.get(name)?.source
  const sourceTopic = optimizationsOf(properties['topology.optimization']).has('reuse.ktable.source.topics')
    ? source?.topics[0]
    : undefined
  return [
    {
      name,
      changelogTopic:
        logging === false ? undefined : (sourceTopic ?? changelogTopicOf(properties['application.id'], name)),
      kind: definition.kind,
      configs: { ...changelogConfigs(definition, properties), ...(typeof logging === 'object' ? logging : {}) },
      sourceTopicIsChangelog: logging !== false && sourceTopic !== undefined,
      loggedHeaders: loggedHeadersOf(definition, properties),
      cacheBytes: cacheBytesOf(definition, graph, properties),
      definition,
    },
  ]
}

/** Only stores of operators know the format with headers; versions, buffers and the records of a join do not. */
function loggedHeadersOf(
  { kind, ofUser, retainsDuplicates, logsHeaders }: StoreDefinition,
  properties: PlanProperties,
): LoggedHeaders {
  if (logsHeaders === true) return 'always'
  if (properties['dsl.store.format'] !== 'headers' || ofUser === true || retainsDuplicates === true) return 'none'
  return kind === 'keyValue' || kind === 'versioned' || kind === 'suppress' ? 'none' : 'ofRemovals'
}

/** `<application.id>-<store>-changelog`. Kafka Streams: `ProcessorStateManager.storeChangelogTopic`. */
export function changelogTopicOf(applicationId: string, store: string): string {
  return `${applicationId}-${store}-changelog`
}

/** Joined sources, with groups that overlap taken together. */
function copartitionGroups(
  graph: Graph,
  nodes: readonly GraphNode[],
  applicationId: string,
): readonly (readonly string[])[] {
  const groups: Set<GraphNode>[] = []
  for (const sources of graph.copartitioned) {
    if (!sources.some(source => nodes.includes(source))) continue
    const overlapping = groups.filter(group => sources.some(source => group.has(source)))
    const merged = new Set([...sources, ...overlapping.flatMap(group => [...group])])
    for (const group of overlapping) groups.splice(groups.indexOf(group), 1)
    groups.push(merged)
  }
  return groups.map(group =>
    [...group].flatMap(node => (node.source === undefined ? [] : topicsOf(node.source, applicationId))),
  )
}

function globalTablesOf(graph: Graph, { nodes }: NodeGroup): readonly GlobalTablePlan[] {
  return nodes.flatMap(source => {
    const topic = source.source?.topics[0]
    const store = storeBelow(graph, source)
    return topic === undefined || store === undefined ? [] : [{ topic, store, source }]
  })
}

function storeBelow(graph: Graph, source: GraphNode): StoreDefinition | undefined {
  for (const child of source.children) for (const store of child.stores) return graph.stores.get(store)
  return undefined
}

function topicsOf(source: SourceDefinition, applicationId: string): readonly string[] {
  return source.internal ? source.topics.map(topic => `${applicationId}-${topic}`) : source.topics
}

function unique(topics: readonly string[]): readonly string[] {
  return [...new Set(topics)]
}
