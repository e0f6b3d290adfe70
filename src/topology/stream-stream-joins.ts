import type { CurrentRecord } from '../operators/current-record.ts'
import type { LongVariable } from '../operators/long-variable.ts'
import { joinWindow, streamSelfJoin, streamStreamJoin } from '../operators/stream-stream-join.ts'
import type { JoinStep } from '../operators/stream-table-join.ts'
import type { JoinKind } from '../operators/table-table-join.ts'
import { UnmatchedRecords } from '../operators/unmatched-records.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { bytes } from '../serdes/text.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { PASSES, READS, READS_AND_PASSES, type GraphNode, type NodeCompiler } from './graph-node.ts'
import { joinNames, joinReach, type ErasedStreamJoinOptions, type JoinReach } from './join-options.ts'
import { union, type Named, type SerdePair, type StreamParts } from './parts.ts'
import { readsOf } from './reads.ts'
import { serdeOf } from './stream-serdes.ts'
import { repartitionedForJoin } from './stream-steps.ts'

/** What both sides of a join share. */
interface Joining extends JoinReach {
  readonly kind: JoinKind
  readonly joiner: JoinStep
  readonly key: AnySerde
  readonly left: StoreDefinition
  readonly right: StoreDefinition
  readonly shared: StoreDefinition | undefined
  /** What both sides remember, by the record of their task. */
  readonly memories: WeakMap<CurrentRecord, JoinMemory>
}

interface JoinMemory {
  readonly time: LongVariable
  readonly unmatched: UnmatchedRecords | undefined
}

/** `join`, `leftJoin` and `outerJoin` of two streams. Kafka Streams: `KStreamImpl.doJoin` and `KStreamImplJoin`. */
export function addStreamStreamJoin(
  left: StreamParts,
  right: StreamParts,
  joiner: JoinStep,
  options: ErasedStreamJoinOptions,
  kind: JoinKind,
): StreamParts {
  const { graph } = left
  const step = options.name ?? (kind === 'inner' ? 'join' : `${kind}Join`)
  const key = withoutNull(serdeOf(left, 'key', options.key ?? left.key ?? right.key, step))
  const leftValue = withoutNull(serdeOf(left, 'value', options.value, step))
  const rightValue = withoutNull(serdeOf(right, 'value', options.otherValue, step))
  checkKeys(right, key, options, step)
  const reach = joinReach(graph, options, step)
  const leftSide = copartitioned(left, { ...options, key, value: leftValue }, '-left', step)
  const rightSide = copartitioned(right, { ...options, key, value: rightValue }, '-right', step)
  const names = joinNames(graph, options, kind)
  const windows = { key, kind: 'window' as const, options, ...retentionOf(reach), retainsDuplicates: true }
  const joining: Joining = {
    ...reach,
    kind,
    joiner,
    key,
    left: { ...windows, name: names.leftStore, value: leftValue },
    right: { ...windows, name: names.rightStore, value: rightValue },
    shared:
      kind === 'inner' ? undefined : { name: names.sharedStore, kind: 'keyValue', key: bytes, value: bytes, options },
    memories: new WeakMap(),
  }
  const joinsItself = kind === 'inner' && leftSide.node === rightSide.node
  if (joinsItself) graph.hasSelfJoin = true
  const leftWindow = addWindow(leftSide, names.leftWindow, joining.left)
  let node: GraphNode
  if (joinsItself && graph.optimizations.has('single.store.self.join')) {
    node = addSelfJoin(leftSide, leftWindow, names.merge, joining)
  } else {
    const rightWindow = addWindow(rightSide, names.rightWindow, joining.right)
    const leftJoin = addSide(leftWindow, names.left, joining, true, graph)
    const rightJoin = addSide(rightWindow, names.right, joining, false, graph)
    node = graph.add({
      name: names.merge,
      parents: [leftJoin, rightJoin],
      use: () => PASSES,
      serdes: { key, value: undefined },
      compile: ({ next }) => next,
    })
  }
  if (kind !== 'inner') graph.keylessJoins.add(node)
  for (const name of [joining.left, joining.right, joining.shared].flatMap(store => store?.name ?? [])) {
    if (options.store === undefined && graph.stores.has(name)) graph.numberedResources.push(name)
  }
  const sources = union(leftSide.sources, rightSide.sources)
  graph.copartitioned.push(sources)
  return { graph, node, key, value: undefined, rekeyed: false, sources }
}

function retentionOf({ beforeMs, afterMs, graceMs }: JoinReach): {
  readonly retentionMs: number
  readonly windowSizeMs: number
} {
  return { retentionMs: beforeMs + afterMs + graceMs, windowSizeMs: beforeMs + afterMs }
}

/** A re-keyed stream goes through a topic first. */
function copartitioned(stream: StreamParts, options: Named & SerdePair, suffix: string, step: string): StreamParts {
  if (!stream.rekeyed) return stream
  const { key, value, name } = options
  const base = name === undefined ? undefined : `${name}${suffix}`
  return repartitionedForJoin(stream, base, { key, value }, step)
}

function addWindow({ graph, node: parent, key, value }: StreamParts, name: string, store: StoreDefinition): GraphNode {
  graph.addStore(store)
  const node = graph.add({
    name,
    parents: [parent],
    use: side => (side === 'key' ? { ...PASSES, writes: [store.key] } : READS_AND_PASSES),
    serdes: { key, value },
    compile: compiler =>
      joinWindow(
        {
          ...compiler.site,
          store: compiler.windowStore(store.name),
          keyBytes: compiler.keyBytes(store.key, compiler.changelogTopic(store.name)),
        },
        compiler.next,
      ),
  })
  graph.connect(node, store.name)
  return node
}

function addSide(
  window: GraphNode,
  name: string,
  joining: Joining,
  isLeft: boolean,
  graph: StreamParts['graph'],
): GraphNode {
  const { key, kind, joiner, shared, beforeMs, afterMs } = joining
  const other = isLeft ? joining.right : joining.left
  const node = graph.add({
    name,
    parents: [window],
    // Results of records that waited have another key than the record that ends their wait.
    use: side => {
      if (side === 'value') return READS
      const reads = shared !== undefined || readsOf(joiner, 'key')
      return { reads, passes: shared === undefined, writes: [key] }
    },
    serdes: { key, value: undefined },
    compile: compiler =>
      streamStreamJoin(
        {
          ...compiler.site,
          ...memoryOf(joining, compiler),
          other: compiler.windowStore(other.name),
          keyBytes: compiler.keyBytes(key, compiler.changelogTopic(other.name)),
          joiner,
          isLeft,
          isOuter: kind === 'outer' || (kind === 'left' && isLeft),
          beforeMs: isLeft ? beforeMs : afterMs,
          afterMs: isLeft ? afterMs : beforeMs,
          dropped: compiler.dropped,
        },
        compiler.next,
      ),
  })
  graph.connect(node, other.name)
  if (shared !== undefined) {
    graph.addStore(shared)
    graph.connect(node, shared.name)
  }
  return node
}

/** One store for both sides. Kafka Streams: `rewriteSingleStoreSelfJoin` under `topology.optimization`. */
function addSelfJoin({ graph }: StreamParts, window: GraphNode, name: string, joining: Joining): GraphNode {
  const { key, left: store, joiner, beforeMs, afterMs } = joining
  const node = graph.add({
    name,
    parents: [window],
    use: side => (side === 'key' ? { ...PASSES, reads: readsOf(joiner, 'key'), writes: [key] } : READS),
    serdes: { key, value: undefined },
    compile: compiler =>
      streamSelfJoin(
        {
          ...compiler.site,
          store: compiler.windowStore(store.name),
          keyBytes: compiler.keyBytes(key, compiler.changelogTopic(store.name)),
          joiner,
          beforeMs,
          afterMs,
          retentionMs: retentionOf(joining).retentionMs,
          time: compiler.variable('time', -1),
          dropped: compiler.dropped,
        },
        compiler.next,
      ),
  })
  graph.connect(node, store.name)
  return node
}

/** Both sides observe one time and share the records without a partner. Kafka Streams: `TimeTracker`. */
function memoryOf(joining: Joining, compiler: NodeCompiler): JoinMemory {
  const { memories, shared, joiner, key, left, right, beforeMs, afterMs, graceMs } = joining
  const { record } = compiler.site
  const known = memories.get(record)
  if (known !== undefined) return known
  const time = compiler.variable('time', -1)
  const memory: JoinMemory = {
    time,
    unmatched:
      shared === undefined
        ? undefined
        : new UnmatchedRecords({
            ...compiler.site,
            store: compiler.store(shared.name),
            key: erasedSerde(key),
            left: erasedSerde(left.value),
            right: erasedSerde(right.value),
            topic: compiler.changelogTopic(shared.name),
            joiner,
            beforeMs,
            afterMs,
            graceMs,
            time,
            minTime: compiler.variable('min', Number.MAX_SAFE_INTEGER),
            firstTime: compiler.variable('first', 0),
          }),
  }
  memories.set(record, memory)
  return memory
}

function checkKeys(right: StreamParts, key: AnySerde, options: ErasedStreamJoinOptions, step: string): void {
  const ofRight = options.key === undefined && right.key !== undefined ? withoutNull(right.key).name : key.name
  if (ofRight === key.name) return
  right.graph.report('SERDE_MISMATCH', {
    node: step,
    what: `${step} joins keys written as ${key.name} with keys written as ${ofRight}: equal keys would have different bytes.`,
  })
}
