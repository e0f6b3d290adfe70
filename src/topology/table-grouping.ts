import { changeSerde } from '../operators/change.ts'
import type { Forward } from '../operators/forward.ts'
import type { CombineStep } from '../operators/step.ts'
import { tableAggregate, tableReduce, type TableAggregationParts } from '../operators/table-group.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import { withoutNull } from '../serdes/nullable.ts'
import { long } from '../serdes/numbers.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { READS, READS_AND_PASSES, type GraphNode, type NodeCompiler } from './graph-node.ts'
import { MaterializedResult } from './materialized.ts'
import type { StoreOptions, VersionedOption } from './options.ts'
import type { GroupedTableParts, TableParts } from './parts.ts'
import { addRepartitionSink, addRepartitionSource } from './repartition.ts'

const plus: CombineStep = total => Number(total) + 1
const minus: CombineStep = total => Number(total) - 1

/** `count` of a grouped table. */
export function addTableCount(grouped: GroupedTableParts, options: StoreOptions & VersionedOption): TableParts {
  return addAggregation(grouped, 'KTABLE-AGGREGATE-', options, long, (parts, { next }) =>
    tableAggregate(parts, () => 0, plus, minus, next),
  )
}

/** `reduce` of a grouped table. */
export function addTableReduce(
  grouped: GroupedTableParts,
  adder: CombineStep,
  subtractor: CombineStep,
  options: StoreOptions & VersionedOption,
): TableParts {
  return addAggregation(grouped, 'KTABLE-REDUCE-', options, grouped.value, (parts, { next }) =>
    tableReduce(parts, adder, subtractor, next),
  )
}

/** `aggregate` of a grouped table. */
export function addTableAggregate(
  grouped: GroupedTableParts,
  initializer: () => unknown,
  adder: CombineStep,
  subtractor: CombineStep,
  options: StoreOptions & VersionedOption & { readonly value: AnySerde },
): TableParts {
  return addAggregation(grouped, 'KTABLE-AGGREGATE-', options, options.value, (parts, { next }) =>
    tableAggregate(parts, initializer, adder, subtractor, next),
  )
}

/** Kafka Streams: `KGroupedTableImpl.doAggregate`, with its order of taking numbers. */
function addAggregation(
  grouped: GroupedTableParts,
  prefix: string,
  options: StoreOptions & VersionedOption,
  value: AnySerde,
  compile: (parts: TableAggregationParts, compiler: NodeCompiler) => Forward,
): TableParts {
  const { graph } = grouped
  const key = withoutNull(grouped.key)
  // The JVM numbers the store of a reduce like that of an aggregate.
  const storeName = options.store ?? graph.numberedStoreName('KTABLE-AGGREGATE-')
  if (options.store === undefined) graph.numberedResources.push(storeName)
  const source = repartitionOf(grouped, storeName, options.name)
  const result = new MaterializedResult(graph, storeName, { key, value }, options)
  const { origin, definition } = result
  const node = graph.add({
    name: graph.nameOr(options.name, prefix),
    parents: [source],
    ...result.keeps,
    use: side => (side === 'key' ? { ...READS_AND_PASSES, writes: [key] } : READS),
    serdes: { key, value },
    compile: compiler => {
      const { store, next } = result.compile(compiler)
      return compile(
        {
          ...compiler.site,
          store,
          keyBytes: compiler.keyBytes(key, compiler.changelogTopic(storeName)),
          sendsOld: origin.sendsOld,
        },
        { ...compiler, next },
      )
    },
  })
  graph.connect(node, storeName)
  return { graph, node, key, value, origin, definition, sources: [source] }
}

/** Changes carry old and new value in one record; a topic with a name of its own is shared. Kafka Streams: `GroupedTableOperationRepartitionNode`. */
function repartitionOf(grouped: GroupedTableParts, storeName: string, step: string | undefined): GraphNode {
  const { graph, name, key, value } = grouped
  const sinkName = graph.nameOr(step === undefined ? undefined : `${step}-sink`, 'KSTREAM-SINK-')
  const sourceName = graph.nameOr(step === undefined ? undefined : `${step}-source`, 'KSTREAM-SOURCE-')
  if (grouped.repartitioned !== undefined && name !== undefined) return grouped.repartitioned
  const topic = `${name ?? storeName}-repartition`
  const change = changeSerde(erasedSerde(value))
  addRepartitionSink(graph, { parent: grouped.node, base: topic, name: sinkName, topic, key, value: change })
  grouped.repartitioned = addRepartitionSource(graph, { name: sourceName, topic, key, value: change })
  return grouped.repartitioned
}
