import { aggregate, count, reduce, type AggregationParts } from '../operators/aggregate.ts'
import type { Forward } from '../operators/forward.ts'
import type { CombineStep } from '../operators/step.ts'
import { long } from '../serdes/numbers.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { IGNORES, PASSES, READS, type GraphNode, type NodeCompiler, type SideUse } from './graph-node.ts'
import { MaterializedResult } from './materialized.ts'
import type { StoreOptions, VersionedOption } from './options.ts'
import type { ErasedTableOptions, GroupedStreamParts, TableParts } from './parts.ts'
import { readsOf } from './reads.ts'
import { addRepartition } from './repartition.ts'
import { serdeOf } from './stream-serdes.ts'

/** What is particular to one kind of aggregation. */
interface Aggregation {
  readonly prefix: string
  readonly value: AnySerde
  readonly useOfValue: SideUse
  /** User code that may read the key. */
  readonly reader: object | undefined
  readonly compile: (parts: AggregationParts, compiler: NodeCompiler) => Forward
}

/** `count`: asks only whether there is a value. */
export function addCount(grouped: GroupedStreamParts, options: StoreOptions & VersionedOption): TableParts {
  return addAggregation(grouped, options, {
    prefix: 'KSTREAM-AGGREGATE-',
    value: long,
    useOfValue: IGNORES,
    reader: undefined,
    compile: (parts, { next }) => count(parts, next),
  })
}

/** `reduce`. */
export function addReduce(grouped: GroupedStreamParts, reducer: CombineStep, options: ErasedTableOptions): TableParts {
  return addAggregation(grouped, options, {
    prefix: 'KSTREAM-REDUCE-',
    value: serdeOf(grouped.stream, 'value', options.value ?? grouped.value, options.name ?? 'reduce'),
    useOfValue: READS,
    reader: reducer,
    compile: (parts, { next }) => reduce(parts, reducer, next),
  })
}

/** `aggregate`. */
export function addAggregate(
  grouped: GroupedStreamParts,
  initializer: () => unknown,
  aggregator: CombineStep,
  options: StoreOptions & VersionedOption & { readonly value: AnySerde },
): TableParts {
  return addAggregation(grouped, options, {
    prefix: 'KSTREAM-AGGREGATE-',
    value: options.value,
    useOfValue: READS,
    reader: aggregator,
    compile: (parts, { next }) => aggregate(parts, initializer, aggregator, next),
  })
}

/** Kafka Streams: `GroupedStreamAggregateBuilder.build`, with its order of taking numbers. */
function addAggregation(
  grouped: GroupedStreamParts,
  options: StoreOptions & VersionedOption,
  kind: Aggregation,
): TableParts {
  const { graph, node: streamNode, rekeyed, sources } = grouped.stream
  const key = withoutNull(grouped.key)
  const storeName = options.store ?? graph.numberedStoreName(kind.prefix)
  if (options.store === undefined) graph.numberedResources.push(storeName)
  const name = graph.nameOr(options.name, kind.prefix)
  const parent = rekeyed ? repartitionOf(grouped, storeName) : streamNode
  const result = new MaterializedResult(graph, storeName, { key, value: kind.value }, options)
  const { origin, definition } = result
  const node = graph.add({
    name,
    parents: [parent],
    ...result.keeps,
    use: side =>
      side === 'value'
        ? kind.useOfValue
        : { ...PASSES, reads: kind.reader !== undefined && readsOf(kind.reader, 'key'), writes: [key] },
    serdes: { key, value: kind.value },
    compile: compiler => {
      const { store, next } = result.compile(compiler)
      return kind.compile(
        {
          ...compiler.site,
          store,
          keyBytes: compiler.keyBytes(key, compiler.changelogTopic(storeName)),
          dropped: compiler.dropped,
          sendsOld: origin.sendsOld,
        },
        { ...compiler, next },
      )
    },
  })
  graph.connect(node, storeName)
  return { graph, node, key, value: kind.value, origin, definition, sources: rekeyed ? [parent] : sources }
}

/** A topic with a name of its own is shared by all aggregations of the grouping; else each has one, named after its store. */
export function repartitionOf(grouped: GroupedStreamParts, storeName: string): GraphNode {
  const { stream, name, key } = grouped
  const { graph, node } = stream
  if (grouped.repartitioned !== undefined && name !== undefined) {
    // The numbers the JVM takes for the topic that it then does not add.
    for (let taken = 0; taken < 3; taken++) graph.numberedName('')
    return grouped.repartitioned
  }
  const value = serdeOf(stream, 'value', grouped.value, name ?? storeName)
  grouped.repartitioned = addRepartition(graph, { parent: node, base: name ?? storeName, key, value })
  return grouped.repartitioned
}
