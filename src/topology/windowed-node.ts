import { sessionAggregate } from '../operators/session-aggregate.ts'
import { sink } from '../operators/sink.ts'
import { slidingWindowAggregate } from '../operators/sliding-window-aggregate.ts'
import { timeWindowAggregate } from '../operators/time-window-aggregate.ts'
import type { Forward } from '../operators/forward.ts'
import type { CombineStep } from '../operators/step.ts'
import type { Fold, WindowedAggregationParts } from '../operators/windowed-aggregation.ts'
import { NO_HEADERS } from '../model/headers.ts'
import { parseDurationMs } from '../model/duration.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { sessionWindowed, timeWindowed } from '../serdes/windowed.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { sessionResultsOf, windowResultsOf } from './cached-results.ts'
import type { Graph } from './graph.ts'
import type { GraphNode, NodeCompiler, SideUse } from './graph-node.ts'
import type { ErasedWindowedOptions } from './parts.ts'
import { readsOf } from './reads.ts'
import type { StoredTable } from './table-origin.ts'
import { retentionMsOf, windowSizeMsOf, windowsText, type WindowsDefinition } from './windows.ts'

/** How a windowed aggregation is asked for. */
export interface WindowedParts {
  readonly windows: WindowsDefinition
  readonly emitsFinal: boolean
  /** Topic of late records. */
  readonly late: LateTopic | undefined
}

/** Where late records go, and how they are written. */
export interface LateTopic {
  readonly topic: string
  readonly key: AnySerde
  readonly value: AnySerde
}

/** What is particular to one node that aggregates in windows. */
export interface WindowedNodeParts extends WindowedParts {
  readonly name: string
  readonly parent: GraphNode
  readonly definition: StoreDefinition
  readonly origin: StoredTable
  readonly windowedKey: AnySerde
  readonly fold: Fold
  /** Joins two sessions. */
  readonly merge: CombineStep
  readonly useOfValue: SideUse
  /** User code that may read the key. */
  readonly readers: readonly object[]
}

/** The store of a windowed aggregation; a retention that is too short is noted. */
export function windowedStore(
  graph: Graph,
  windows: WindowsDefinition,
  {
    name,
    key,
    value,
    options,
    emitsFinal,
  }: {
    readonly name: string
    readonly emitsFinal: boolean
    readonly key: AnySerde
    readonly value: AnySerde
    readonly options: ErasedWindowedOptions
  },
): StoreDefinition {
  const leastMs = retentionMsOf(windows)
  const retentionMs = options.retention === undefined ? leastMs : parseDurationMs(options.retention)
  if (retentionMs === undefined || retentionMs < leastMs) {
    graph.report('TOPOLOGY_INVALID', {
      node: name,
      what: `The retention of ${name} is ${String(options.retention)}; its windows and their grace need at least ${String(leastMs)} ms.`,
      action: 'Leave the retention out, or make it longer.',
    })
  }
  return {
    name,
    kind: windows.kind === 'session' ? 'session' : 'timestampedWindow',
    key: withoutNull(key),
    value: withoutNull(value),
    options,
    retentionMs: retentionMs ?? leastMs,
    isUncached: emitsFinal && windows.kind !== 'time',
    isTimeOrdered: emitsFinal && windows.kind !== 'session',
    windowSizeMs: windowSizeMsOf(windows),
    windows: windowsText(windows),
  }
}

/** The serde of the keys of windows. */
export function windowedKeySerde(windows: WindowsDefinition, key: AnySerde): AnySerde {
  return windows.kind === 'session'
    ? sessionWindowed(erasedSerde(withoutNull(key)))
    : timeWindowed(erasedSerde(withoutNull(key)), windowSizeMsOf(windows))
}

/** Adds the node that aggregates. */
export function addWindowedNode(graph: Graph, parts: WindowedNodeParts): GraphNode {
  const { name, definition, late, windows } = parts
  const { key } = definition
  if (parts.emitsFinal && windows.kind === 'time' && windows.sizeMs === Number.POSITIVE_INFINITY) {
    graph.report('TOPOLOGY_INVALID', {
      node: name,
      what: `${name}: a window that never closes has no final result.`,
      action: "Leave out emit: 'final'.",
    })
  }
  const node = graph.add({
    name,
    parents: [parts.parent],
    // Final results are read again when their windows close.
    ...(parts.emitsFinal ? {} : { keeps: definition.name }),
    // The late topic is written by the node itself: only what it gives up goes there.
    ...(late === undefined
      ? {}
      : { sink: { topic: late.topic, internal: false, partitions: undefined, serdes: late } }),
    use: side => ({
      reads: side === 'key' ? parts.readers.some(reader => readsOf(reader, 'key')) : parts.useOfValue.reads,
      passes: false,
      // Final results leave under the keys of other records.
      wraps: side === 'key' && !parts.emitsFinal,
      writes:
        side === 'key' ? [key, ...(late === undefined ? [] : [late.key])] : late === undefined ? [] : [late.value],
    }),
    serdes: { key: parts.windowedKey, value: definition.value },
    compile: compiler => compileWindowed(parts, compiler),
  })
  graph.connect(node, definition.name)
  return node
}

function compileWindowed(parts: WindowedNodeParts, compiler: NodeCompiler): Forward {
  const { definition, windows, fold, merge, origin, emitsFinal, windowedKey } = parts
  const { next } = compiler
  const topic = compiler.changelogTopic(definition.name)
  const key = erasedSerde(definition.key)
  const context = { topic, side: 'key' as const, headers: NO_HEADERS }
  const common: WindowedAggregationParts = {
    ...compiler.site,
    keyBytes: compiler.keyBytes(definition.key, topic),
    readKey: bytes => key.deserialize(bytes, context),
    dropped: compiler.dropped,
    sendsOld: origin.sendsOld,
    emitsFinal,
    observed: compiler.variable('time', -1),
    lastClose: compiler.variable('closed', -1),
    late: lateSink(parts, compiler),
  }
  // Final results leave when their windows close, cache or not.
  const sendsOld = (): boolean => origin.sendsOld
  if (windows.kind === 'session') {
    const store = compiler.sessionStore(definition.name)
    const results = emitsFinal ? next : sessionResultsOf(compiler, store, windowedKey, sendsOld)
    return sessionAggregate({ ...common, store }, windows, { ...fold, merge }, results)
  }
  const store = compiler.windowStore(definition.name)
  const results = emitsFinal ? next : windowResultsOf(compiler, store, windowedKey, sendsOld)
  return windows.kind === 'time'
    ? timeWindowAggregate({ ...common, store }, windows, fold, results)
    : slidingWindowAggregate({ ...common, store }, windows, fold, results)
}

function lateSink({ late }: WindowedNodeParts, compiler: NodeCompiler): Forward | undefined {
  if (late === undefined) return undefined
  return sink({
    ...compiler.site,
    output: compiler.output,
    topic: late.topic,
    bytes: compiler.recordBytes(late.key, late.value, late.topic),
    partitioner: undefined,
    dropped: compiler.dropped,
  })
}
