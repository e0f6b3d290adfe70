import type { Forward } from '../operators/forward.ts'
import { latestOnly } from '../operators/table.ts'
import { tableJoinMerge, tableTableJoin, type JoinKind } from '../operators/table-table-join.ts'
import type { JoinStep } from '../operators/stream-table-join.ts'
import { withoutNull } from '../serdes/nullable.ts'
import { resultsOf } from './cached-results.ts'
import { READS, READS_AND_PASSES, PASSES, type GraphNode, type NodeCompiler } from './graph-node.ts'
import { union, type ErasedTableOptions, type TableParts } from './parts.ts'
import { readsOf } from './reads.ts'
import { keptStoreOf } from './table-steps.ts'
import { JoinedTable } from './table-origin.ts'

/** Both sides of a join, and what they share. */
interface Joining {
  readonly left: TableParts
  readonly right: TableParts
  readonly kind: JoinKind
  readonly joiner: JoinStep
  readonly origin: JoinedTable
}

/** `join`, `leftJoin` and `outerJoin` of two tables. Kafka Streams: `KTableImpl.doJoin` and `KTableKTableJoinNode`. */
export function addTableTableJoin(
  left: TableParts,
  right: TableParts,
  joiner: JoinStep,
  options: ErasedTableOptions,
  kind: JoinKind,
): TableParts {
  const { graph, key } = left
  // A number for the store that a serde without a name would have had, as in the JVM.
  if (options.value !== undefined && options.store === undefined) graph.numberedStoreName('KTABLE-MERGE-')
  const mergeName = graph.nameOr(options.name, 'KTABLE-MERGE-')
  const thisName = graph.nameOr(nameWith(options.name, '-join-this'), 'KTABLE-JOINTHIS-')
  const otherName = graph.nameOr(nameWith(options.name, '-join-other'), 'KTABLE-JOINOTHER-')
  checkKeys(left, right, mergeName)
  // Where one side may be missing, only the value before tells whether a deletion is news.
  if (kind !== 'inner') left.origin.sendOld(true)
  if (kind === 'outer') right.origin.sendOld(true)
  left.origin.materialize()
  right.origin.materialize()
  const definition = keptStoreOf(left, options, mergeName)
  const origin = new JoinedTable({ left: left.origin, right: right.origin, kind, joiner, store: definition?.name })
  const joining = { left, right, kind, joiner, origin }
  const thisSide = addSide(joining, thisName, true)
  const otherSide = addSide(joining, otherName, false)
  const node = graph.add({
    name: mergeName,
    parents: [thisSide, otherSide],
    use: side => (definition === undefined ? PASSES : side === 'key' ? { ...PASSES, writes: [key] } : READS_AND_PASSES),
    serdes: { key, value: options.value },
    compile: compiler =>
      tableJoinMerge(
        compiler.site,
        definition === undefined
          ? undefined
          : {
              store: compiler.store(definition.name),
              keyBytes: compiler.keyBytes(key, compiler.changelogTopic(definition.name)),
            },
        definition === undefined
          ? compiler.next
          : resultsOf(compiler, compiler.store(definition.name), key, () => origin.sendsOld),
      ),
  })
  if (definition !== undefined) {
    graph.addStore(definition)
    graph.connect(node, definition.name)
  }
  const sources = union(left.sources, right.sources)
  graph.copartitioned.push(sources)
  return { graph, node, key, value: options.value, origin, definition, sources }
}

function addSide(joining: Joining, name: string, isLeft: boolean): GraphNode {
  const { left, right } = joining
  const [own, other] = isLeft ? [left, right] : [right, left]
  const node = own.graph.add({
    name,
    parents: [own.node],
    use: side => {
      if (side === 'value') return READS
      return { ...PASSES, reads: readsOf(joining.joiner, 'key') || other.origin.readsKey, writes: [other.key] }
    },
    serdes: { key: own.key, value: undefined },
    compile: compiler => compileSide(joining, compiler, isLeft),
  })
  for (const store of other.origin.stores()) own.graph.connectLookUp(node, store)
  return node
}

function compileSide({ left, right, kind, joiner, origin }: Joining, compiler: NodeCompiler, isLeft: boolean): Forward {
  const [own, other] = isLeft ? [left, right] : [right, left]
  const [store = other.node.name] = other.origin.stores()
  const join = tableTableJoin(
    {
      ...compiler.site,
      kind,
      isLeft,
      other: other.origin.getter(compiler),
      keyBytes: compiler.keyBytes(other.key, compiler.changelogTopic(store)),
      joiner,
      sendsOld: origin.sendsOld,
      dropped: compiler.dropped,
    },
    compiler.next,
  )
  return own.origin.isVersioned ? latestOnly(compiler.site, compiler.dropped, join) : join
}

function checkKeys(left: TableParts, right: TableParts, step: string): void {
  const [ofLeft, ofRight] = [withoutNull(left.key).name, withoutNull(right.key).name]
  if (ofLeft === ofRight) return
  left.graph.report('SERDE_MISMATCH', {
    node: step,
    what: `${step} joins a table whose keys are written as ${ofLeft} with one whose keys are written as ${ofRight}: equal keys would have different bytes.`,
  })
}

function nameWith(name: string | undefined, suffix: string): string | undefined {
  return name === undefined ? undefined : `${name}${suffix}`
}
