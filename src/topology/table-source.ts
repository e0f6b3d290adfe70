import { tableSource, versionedTableSource } from '../operators/table.ts'
import type { Forward } from '../operators/forward.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { StoreDefinition, StoreEngineOptions } from '../stores/store-spec.ts'
import type { Graph } from './graph.ts'
import { resultsOf } from './cached-results.ts'
import { PASSES, READS_AND_PASSES, type GraphNode, type NodeCompiler } from './graph-node.ts'
import type { TableParts } from './parts.ts'
import { SourceTable } from './table-origin.ts'

/** What the head of a table is made of. */
export interface TableSourceParts {
  readonly parent: GraphNode
  readonly name: string
  readonly storeName: string
  /** Whether the user named the store; without a name it is kept only if somebody needs it. */
  readonly isNamed: boolean
  readonly key: AnySerde
  readonly value: AnySerde
  readonly options: StoreEngineOptions
  readonly sources: readonly GraphNode[]
  /** How far back earlier values are kept, in ms; only the latest when `undefined`. */
  readonly historyMs?: number | undefined
  /** The table reads its topic directly, so the topic can serve as changelog. */
  readonly readsTopic?: boolean
}

/** Adds the head of a table. Kafka Streams: `KTableSource` under `TableSourceNode` or `StreamToTableNode`. */
export function addTableSource(graph: Graph, parts: TableSourceParts): TableParts {
  const { parent, name, storeName, isNamed, options, sources } = parts
  const key = withoutNull(parts.key)
  const value = withoutNull(parts.value)
  const { historyMs } = parts
  const definition: StoreDefinition =
    historyMs === undefined
      ? { name: storeName, kind: 'timestampedKeyValue', key, value, options }
      : { name: storeName, kind: 'versioned', key, value, options, retentionMs: historyMs }
  const node = graph.add({
    name,
    parents: [parent],
    use: side => {
      if (!origin.isKept) return PASSES
      return side === 'key' ? { ...PASSES, writes: [key] } : READS_AND_PASSES
    },
    serdes: { key, value },
    compile: compiler => (historyMs === undefined ? compilePlain(compiler) : compileVersioned(compiler)),
  })
  const compilePlain = (compiler: NodeCompiler): Forward =>
    tableSource(
      {
        ...compiler.site,
        kept: origin.isKept
          ? { store: compiler.store(storeName), keyBytes: compiler.keyBytes(key, compiler.changelogTopic(storeName)) }
          : undefined,
        sendsOld: origin.sendsOld,
      },
      compiler.dropped,
      origin.isKept ? resultsOf(compiler, compiler.store(storeName), key, () => origin.sendsOld) : compiler.next,
    )
  const compileVersioned = (compiler: NodeCompiler): Forward =>
    versionedTableSource(
      {
        ...compiler.site,
        store: compiler.versionedStore(storeName),
        keyBytes: compiler.keyBytes(key, compiler.changelogTopic(storeName)),
        sendsOld: origin.sendsOld,
        dropped: compiler.dropped,
      },
      compiler.next,
    )
  const origin = new SourceTable(
    storeName,
    { isKept: isNamed || historyMs !== undefined, isVersioned: historyMs !== undefined },
    () => {
      if (!isNamed) graph.numberedResources.push(storeName)
      graph.addStore(definition)
      graph.connect(node, storeName)
      if (parts.readsTopic === true) graph.sourceStores.set(storeName, parent)
    },
  )
  return { graph, node, key, value, origin, definition: isNamed ? definition : undefined, sources }
}
