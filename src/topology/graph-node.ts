import type { Logger } from '../model/logger.ts'
import type { DropReason, ErrorPolicies } from '../model/record-failure.ts'
import type { Forward } from '../operators/forward.ts'
import type { ProcessorHost } from '../operators/processor-context.ts'
import type { KeyBytes, RecordBytes, SideBytes } from '../operators/side-bytes.ts'
import type { RecordOutput } from '../operators/sink.ts'
import type { Site } from '../operators/stateless.ts'
import type { Step } from '../operators/step.ts'
import type { AnySerde, Serializer } from '../serdes/serde.ts'
import type { LongVariable } from '../operators/long-variable.ts'
import type { KeyValueState } from '../stores/key-value-state.ts'
import type { SessionState } from '../stores/session-state.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import type { SuppressState } from '../stores/suppress-state.ts'
import type { VersionedState } from '../stores/versioned-state.ts'
import type { WindowState } from '../stores/window-state.ts'
import type { DraftForm } from './drafts.ts'
import type { InvalidTimestamp, OffsetReset } from './options.ts'

/** A side of a record. */
export type Side = 'key' | 'value'

/** What a node does with one side of a record; decides where bytes may travel undecoded. */
export interface SideUse {
  /** It needs the decoded form. */
  readonly reads: boolean
  /** All that it reads of a value with fields, which it leaves as it is; `undefined` when it may read, or change, all of it. */
  readonly fields?: ReadonlySet<string> | undefined
  /** It only puts a text beside other texts: one that still is bytes of the record will do. */
  readonly asText?: boolean | undefined
  /** What it hands on is what it got. */
  readonly passes: boolean
  /** It needs the bytes as these serializers write them. */
  readonly writes: readonly Serializer<never>[]
  /** What it hands on is the key of a window around the key it got, at once: the bytes of one are part of the other's. */
  readonly wraps?: boolean
}

/** What a source reads and how. */
export interface SourceDefinition {
  readonly topics: readonly string[]
  /** A repartition topic: its name still lacks the application id. */
  readonly internal: boolean
  readonly role: 'stream' | 'table' | 'globalTable'
  readonly key: AnySerde
  readonly value: AnySerde
  readonly timestamp: Step | undefined
  readonly onInvalidTimestamp: InvalidTimestamp
  readonly offsetReset: OffsetReset | undefined
  readonly onOutOfRange: 'fail' | 'earliest' | 'latest'
  readonly errors: ErrorPolicies | undefined
}

/** What a sink writes to. */
export interface SinkDefinition {
  /** `undefined` when a step chooses the topic of each record. */
  readonly topic: string | undefined
  /** A repartition topic: its name still lacks the application id. */
  readonly internal: boolean
  /** Partition count asked for; `undefined` = as many as upstream. Only of internal topics. */
  readonly partitions: number | undefined
  /** Serdes of what is written, where the node's own are of something else: a late topic's. */
  readonly serdes?: { readonly key: AnySerde; readonly value: AnySerde }
}

/**
 * What an operator does to the records on their way to a repartition topic: gives them another key or another value, or
 * brings streams together. Kafka Streams: `isKeyChangingOperation`, `isValueChangingOperation`, `isMergeNode` of `GraphNode`.
 */
export type NodeEffect = 'changesKey' | 'changesValue' | 'merges'

/** One node of the graph. Kafka Streams: `NodeFactory` of `InternalTopologyBuilder`. */
export interface GraphNode {
  readonly name: string
  readonly kind: 'source' | 'processor' | 'sink'
  /** Changed only while the graph is optimized. */
  parents: readonly GraphNode[]
  /** In the order they were added, which is the order they are called in. */
  readonly children: GraphNode[]
  /** Names of the stores it uses. */
  readonly stores: Set<string>
  /** Those of them that it only looks into: others write them. */
  readonly lookUps: Set<string>
  readonly source: SourceDefinition | undefined
  readonly sink: SinkDefinition | undefined
  /** What it means for the merging of repartition topics; `undefined` = nothing. */
  readonly effect: NodeEffect | undefined
  /** The store into which the node puts each value before it hands it on; `undefined` when it does not. */
  readonly keeps: string | undefined
  /** Of the input; for a source, of what its extractor reads. A getter: a table may be given a store later. */
  readonly use: (side: Side) => SideUse
  /** Serdes of the output, for descriptions. */
  readonly serdes: { readonly key: AnySerde | undefined; readonly value: AnySerde | undefined }
  /** Makes the node's part of a task's chain. */
  readonly compile: (compiler: NodeCompiler) => Forward
}

/** What a node is compiled with; one per task and node. */
export interface NodeCompiler {
  readonly site: Site
  /** All children, in order. */
  readonly next: Forward
  readonly output: RecordOutput
  readonly host: ProcessorHost
  readonly logger: Logger
  readonly dropped: (reason: DropReason, count?: number) => void
  /** The form in which all the values that the node gives are written to topics, read by nobody; `undefined` when they are not. */
  readonly writtenAs: DraftForm | undefined
  /** One child. */
  child(node: GraphNode): Forward
  /** The child of a name; `undefined` when there is none. */
  childNamed(name: string): Forward | undefined
  /** A key-value store of the task. */
  store(name: string): KeyValueState
  /** A window store of the task. */
  windowStore(name: string): WindowState
  /** A session store of the task. */
  sessionStore(name: string): SessionState
  /** The buffer of a suppress of the task. */
  suppressStore(name: string): SuppressState
  /** A versioned store of the task. */
  versionedStore(name: string): VersionedState
  /** What the node remembers between records: undone with them, and committed with the offsets. `name` is unique within the node. */
  variable(name: string, initial: number): LongVariable
  /** A store as user code sees it. */
  storeView(definition: StoreDefinition): unknown
  /** The bytes of the key the node gets, which is not null, for a store or topic. */
  keyBytes(serializer: Serializer<never>, topic: string): KeyBytes
  /** The bytes of a key the node has made itself. */
  newKeyBytes(serializer: Serializer<never>, topic: string): KeyBytes
  /** The bytes of a side the node gets. */
  sideBytes(side: Side, serializer: Serializer<never>, topic: string): SideBytes
  /** The bytes of both sides the node gets. */
  recordBytes(key: Serializer<never>, value: Serializer<never>, topic: string): RecordBytes
  /** The name of an internal topic, with the application id. */
  internalTopic(name: string): string
  /** The changelog topic of a store: what serializers of its keys are told. */
  changelogTopic(store: string): string
}

/** Of a side that is neither looked at nor kept. */
export const IGNORES: SideUse = { reads: false, passes: false, writes: [] }
/** Of a side that is handed on unread. */
export const PASSES: SideUse = { reads: false, passes: true, writes: [] }
/** Of a side that is read and handed on. */
export const READS_AND_PASSES: SideUse = { reads: true, passes: true, writes: [] }
/** Of a side that is read and replaced. */
export const READS: SideUse = { reads: true, passes: false, writes: [] }
