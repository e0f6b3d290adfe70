import type { DropReason } from '../model/record-failure.ts'
import type { Forward } from '../operators/forward.ts'
import { versionedResults } from '../operators/table.ts'
import { versionedGetter } from '../operators/table-getter.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import type { AggregateState } from '../stores/key-value-state.ts'
import { LatestVersions } from '../stores/latest-versions.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { resultsOf } from './cached-results.ts'
import type { Graph } from './graph.ts'
import type { NodeCompiler } from './graph-node.ts'
import { durationOr0 } from './join-options.ts'
import type { StoreHistory, StoreOptions, VersionedOption } from './options.ts'
import { StoredTable } from './table-origin.ts'

/** The store of an aggregation without windows, as the graph knows it: with the latest values, or with earlier ones too. */
export class MaterializedResult {
  readonly definition: StoreDefinition
  readonly origin: StoredTable
  readonly #key: AnySerde

  constructor(
    graph: Graph,
    name: string,
    serdes: { readonly key: AnySerde; readonly value: AnySerde },
    options: StoreOptions & VersionedOption,
  ) {
    const historyMs = historyOf(graph, options, name)
    const value = withoutNull(serdes.value)
    this.#key = serdes.key
    this.definition =
      historyMs === undefined
        ? { name, kind: 'timestampedKeyValue', key: serdes.key, value, options }
        : { name, kind: 'versioned', key: serdes.key, value, options, retentionMs: historyMs }
    this.origin =
      historyMs === undefined
        ? new StoredTable(name)
        : new StoredTable(name, compiler => versionedGetter(compiler.versionedStore(name)), true)
    graph.addStore(this.definition)
  }

  /** What a node says it keeps: the store whose last bytes are those of its result. Versions keep none. */
  get keeps(): { readonly keeps?: string } {
    return this.#isVersioned ? {} : { keeps: this.definition.name }
  }

  /** The store of a task, and where results go that have been put into it. */
  compile(compiler: NodeCompiler): { readonly store: AggregateState; readonly next: Forward } {
    const { name } = this.definition
    if (!this.#isVersioned) {
      const store = compiler.store(name)
      return { store, next: resultsOf(compiler, store, this.#key, () => this.origin.sendsOld) }
    }
    const store = new LatestVersions(compiler.versionedStore(name))
    const dropped = (reason: DropReason): void => compiler.dropped(reason)
    return { store, next: versionedResults({ ...compiler.site, store, dropped }, compiler.next) }
  }

  get #isVersioned(): boolean {
    return this.definition.kind === 'versioned'
  }
}

/** How far back a store keeps earlier values, in ms; `undefined` without `versioned`. */
export function historyOf(
  graph: Graph,
  { versioned }: { readonly versioned?: StoreHistory | undefined },
  step: string,
): number | undefined {
  return versioned === undefined ? undefined : durationOr0(graph, versioned.historyRetention, 'historyRetention', step)
}
