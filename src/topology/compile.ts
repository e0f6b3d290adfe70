import { assert } from '../model/assert.ts'
import type { Logger } from '../model/logger.ts'
import type { DropReason } from '../model/record-failure.ts'
import type { CurrentRecord } from '../operators/current-record.ts'
import { toAll, type Forward } from '../operators/forward.ts'
import type { ProcessorHost } from '../operators/processor-context.ts'
import { keyBytes, sideBytes, type SideEncoding } from '../operators/side-bytes.ts'
import type { Serializer } from '../serdes/serde.ts'
import type { RecordOutput } from '../operators/sink.ts'
import { rememberingSerializer, transientSerializer } from '../serdes/remembering-serializer.ts'
import type { LongVariable } from '../operators/long-variable.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { SessionState } from '../stores/session-state.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { SuppressState } from '../stores/suppress-state.ts'
import type { VersionedState } from '../stores/versioned-state.ts'
import type { WindowState } from '../stores/window-state.ts'
import type { GraphNode, NodeCompiler, Side } from './graph-node.ts'
import { changelogTopicOf } from './plan-application.ts'
import type { SubtopologyPlan } from './plan.ts'
import { SideFlow, type SideReading } from './side-flow.ts'

/** What the chain of a task works with. */
export interface ChainParts {
  readonly record: CurrentRecord
  readonly output: RecordOutput
  readonly host: ProcessorHost
  readonly logger: Logger
  readonly dropped: (reason: DropReason, count?: number) => void
  readonly store: (name: string) => KeyValueState
  readonly windowStore: (name: string) => WindowState
  readonly sessionStore: (name: string) => SessionState
  readonly suppressStore: (name: string) => SuppressState
  readonly versionedStore: (name: string) => VersionedState
  readonly variable: (name: string, initial: number) => LongVariable
  readonly storeView: (definition: StoreDefinition) => unknown
}

/** Where records of a source enter the chain, and how their sides are read. */
export interface ChainEntry {
  readonly source: GraphNode
  readonly key: SideReading
  readonly value: SideReading
  readonly forward: Forward
  /** Stores in which its records may be looked up by the very key they were read with. */
  readonly lookedUp: ReadonlySet<string>
}

/** Compiles a subtopology into the closures of one task. Returns an entry per source, in the plan's order. */
export function compileChain(plan: SubtopologyPlan, parts: ChainParts): readonly ChainEntry[] {
  const cached = new Set(plan.stores.filter(store => store.cacheBytes > 0).map(store => store.name))
  const holdsBack = ({ stores, lookUps }: GraphNode): boolean =>
    [...stores].some(store => cached.has(store) && !lookUps.has(store))
  const flows = {
    key: new SideFlow(plan.nodes, 'key', holdsBack),
    value: new SideFlow(plan.nodes, 'value', holdsBack),
  }
  /** Nodes that ask for the source's own key. */
  const bySourceKey = new Set<GraphNode>()
  const compiled = new Map<GraphNode, Forward>()
  const forwardOf = (node: GraphNode): Forward => {
    const known = compiled.get(node)
    if (known !== undefined) return known
    const forward = node.compile(compilerOf(node))
    compiled.set(node, forward)
    return forward
  }
  const encodingOf = (node: GraphNode, side: Side, serializer: Serializer<never>): SideEncoding => {
    const encoding = flows[side].encodingOf(node, serializer)
    if (encoding.kind !== 'kept') return encoding
    return cached.has(encoding.store)
      ? { kind: 'encode', serializer: rememberingSerializer(serializer) }
      : { kind: 'kept', store: keptStore(plan, encoding.store, parts) }
  }
  const compilerOf = (node: GraphNode): NodeCompiler => ({
    ...parts,
    site: { name: node.name, record: parts.record },
    writtenAs: flows.value.writtenAs(node),
    variable: (name, initial) => parts.variable(`${node.name}.${name}`, initial),
    next: toAll(node.children.map(forwardOf)),
    child: forwardOf,
    childNamed: name => {
      const child = node.children.find(candidate => candidate.name === name)
      return child === undefined ? undefined : forwardOf(child)
    },
    keyBytes: (serializer, topic) => {
      const encoding = encodingOf(node, 'key', serializer)
      if (encoding.kind === 'source') bySourceKey.add(node)
      return keyBytes(encoding, topic, parts.record)
    },
    newKeyBytes: (serializer, topic) =>
      keyBytes({ kind: 'encode', serializer: rememberingSerializer(serializer) }, topic, parts.record),
    sideBytes: (side, serializer, topic) => sideBytes(encodingOf(node, side, serializer), side, topic, parts.record),
    recordBytes: (key, value, topic) => {
      const encodings = {
        key: copied(encodingOf(node, 'key', key), key),
        value: copied(encodingOf(node, 'value', value), value),
      }
      return {
        keyBytes: sideBytes(encodings.key, 'key', topic, parts.record),
        valueBytes: sideBytes(encodings.value, 'value', topic, parts.record),
        isSource: encodings.key.kind === 'source' && encodings.value.kind === 'source',
        isWindowOfSource: encodings.key.kind === 'windowed',
      }
    },
    internalTopic: name => `${plan.applicationId}-${name}`,
    changelogTopic: store => changelogTopicOf(plan.applicationId, store),
  })
  // Children first, so that a deep graph does not recurse deeply.
  for (const node of plan.nodes.toReversed()) forwardOf(node)
  return plan.sources.map(({ node }) => {
    const forward = compiled.get(node)
    assert(forward !== undefined, 'every source is compiled', { node: node.name })
    const lookedUp = new Set(reachable(node).flatMap(at => (bySourceKey.has(at) ? [...at.stores] : [])))
    return { source: node, key: flows.key.readingOf(node), value: flows.value.readingOf(node), forward, lookedUp }
  })
}

/** How bytes are made for whoever copies them before the next ones are made. */
function copied(encoding: SideEncoding, serializer: Serializer<never>): SideEncoding {
  return encoding.kind === 'encode' ? { kind: 'encode', serializer: transientSerializer(serializer) } : encoding
}

/** A store that has the bytes of the value it was given last. */
function keptStore({ stores }: SubtopologyPlan, name: string, parts: ChainParts): Pick<KeyValueState, 'lastPutBytes'> {
  const kind = stores.find(store => store.name === name)?.definition.kind
  if (kind === 'session') return parts.sessionStore(name)
  return kind === 'window' || kind === 'timestampedWindow' ? parts.windowStore(name) : parts.store(name)
}

/** A node and all that its records can come to. */
function reachable(from: GraphNode): readonly GraphNode[] {
  const found = new Set([from])
  for (const node of found) for (const child of node.children) found.add(child)
  return [...found]
}
