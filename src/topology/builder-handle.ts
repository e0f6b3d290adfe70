import type { Duration } from '../model/duration.ts'
import type { ErrorPolicies } from '../model/record-failure.ts'
import type { Step } from '../operators/step.ts'
import { nowhere } from '../operators/forward.ts'
import { nullable, withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { bytes } from '../serdes/text.ts'
import { isDefined, type StoreDefinition, type StoreEngineOptions, type StoreSpec } from '../stores/store-spec.ts'
import { Graph } from './graph.ts'
import { IGNORES, READS, type GraphNode, type SourceDefinition } from './graph-node.ts'
import { historyOf } from './materialized.ts'
import { GlobalTableHandle, StreamHandle, TableHandle } from './handles.ts'
import type { InvalidTimestamp, OffsetReset } from './options.ts'
import type { Named, SerdePair } from './parts.ts'
import { useBy } from './reads.ts'
import { addTableSource } from './table-source.ts'

/** Options of a source, their types forgotten. */
export interface ErasedSourceOptions extends Named, SerdePair {
  readonly timestamp?: Step | undefined
  readonly onInvalidTimestamp?: InvalidTimestamp | undefined
  readonly offsetReset?: OffsetReset | undefined
  readonly onOutOfRange?: 'fail' | 'earliest' | 'latest' | undefined
  readonly errors?: ErrorPolicies | undefined
}

/** Options of a table source, their types forgotten. */
export interface ErasedTableSourceOptions extends ErasedSourceOptions, StoreEngineOptions {
  readonly key: AnySerde
  readonly value: AnySerde
  readonly store?: string | undefined
  readonly versioned?: { readonly historyRetention: Duration } | undefined
}

/** A side without a serde: its bytes, which may be null. */
const RAW: AnySerde = nullable(bytes)

/** A `StreamsBuilder` with its types forgotten. */
export class BuilderHandle {
  readonly graph: Graph

  constructor(graph: Graph = new Graph()) {
    this.graph = graph
  }

  stream(topics: string | readonly string[], options: ErasedSourceOptions = {}): StreamHandle {
    const { graph } = this
    const key = options.key ?? RAW
    const value = options.value ?? RAW
    const list = typeof topics === 'string' ? [topics] : [...topics]
    const node = this.#source(graph.nameOr(options.name, 'KSTREAM-SOURCE-'), list, 'stream', { ...options, key, value })
    return new StreamHandle({ graph, node, key, value, rekeyed: false, sources: [node] })
  }

  table(topic: string, options: ErasedTableSourceOptions): TableHandle {
    const { graph } = this
    const storeName = options.store ?? graph.numberedStoreName(`${topic}-`)
    const parent = this.#source(graph.nameOr(sourceOf(options.name), 'KSTREAM-SOURCE-'), [topic], 'table', options)
    const name = graph.nameOr(options.name, 'KTABLE-SOURCE-')
    const { key, value } = options
    const isNamed = options.store !== undefined
    return new TableHandle(
      addTableSource(graph, {
        parent,
        name,
        storeName,
        isNamed,
        key,
        value,
        options,
        sources: [parent],
        readsTopic: true,
        historyMs: historyOf(graph, options, name),
      }),
    )
  }

  /** A table every instance holds in full. The test driver fills it; the stream thread does not yet, so the typed surface has no such method. */
  globalTable(topic: string, options: ErasedTableSourceOptions): GlobalTableHandle {
    const { graph } = this
    const store = options.store ?? graph.numberedStoreName(`${topic}-`)
    const definition: StoreDefinition = {
      name: store,
      kind: 'timestampedKeyValue',
      key: withoutNull(options.key),
      value: withoutNull(options.value),
      options,
    }
    const parent = this.#source(
      graph.nameOr(sourceOf(options.name), 'KSTREAM-SOURCE-'),
      [topic],
      'globalTable',
      options,
    )
    const node = graph.add({
      name: graph.nameOr(options.name, 'KTABLE-SOURCE-'),
      parents: [parent],
      use: () => READS,
      serdes: { key: options.key, value: options.value },
      // Filled by the thread from the topic, not by records of a task.
      compile: () => nowhere,
    })
    graph.addStore(definition)
    graph.connect(node, store)
    return new GlobalTableHandle(definition)
  }

  addStateStore(spec: StoreSpec<unknown>): void {
    if (isDefined(spec)) this.graph.addStore(spec.definition)
  }

  #source(
    name: string,
    topics: readonly string[],
    role: SourceDefinition['role'],
    options: ErasedSourceOptions & { readonly key: AnySerde; readonly value: AnySerde },
  ): GraphNode {
    const { key, value, timestamp } = options
    if (topics.length === 0)
      this.graph.report('TOPOLOGY_INVALID', { node: name, what: `The source ${name} has no topic.` })
    for (const topic of topics) this.#assertUnread(name, topic)
    return this.graph.add({
      name,
      kind: 'source',
      parents: [],
      source: {
        topics,
        internal: false,
        role,
        key,
        value,
        timestamp,
        onInvalidTimestamp: options.onInvalidTimestamp ?? 'fail',
        offsetReset: options.offsetReset,
        onOutOfRange: options.onOutOfRange ?? 'fail',
        errors: options.errors,
      },
      use: side => (timestamp === undefined ? IGNORES : { ...IGNORES, ...useBy(timestamp, side) }),
      serdes: { key, value },
      compile: ({ next }) => next,
    })
  }

  /** A topic belongs to one source: two would need two positions on each partition. */
  #assertUnread(name: string, topic: string): void {
    const reader = this.graph.nodes.find(node => node.source?.topics.includes(topic) === true)
    if (reader === undefined) return
    this.graph.report('NAME_TAKEN', {
      node: name,
      topic,
      what: `The topic ${topic} is read by ${reader.name} already.`,
      action: 'Read the topic once and use the stream or table twice.',
    })
  }
}

/** A named table is called as given; the source in front of it is derived. */
function sourceOf(table: string | undefined): string | undefined {
  return table === undefined ? undefined : `${table}-source`
}
