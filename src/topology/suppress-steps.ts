import { NO_HEADERS } from '../model/headers.ts'
import { parseDurationMs } from '../model/duration.ts'
import { suppress, suppressedGetter, type SuppressLimits } from '../operators/suppress.ts'
import type { TableGetter } from '../operators/table-getter.ts'
import { erasedSerde } from '../serdes/erased-serde.ts'
import { withoutNull } from '../serdes/nullable.ts'
import { bytes } from '../serdes/text.ts'
import type { StoreDefinition } from '../stores/store-spec.ts'
import { READS, READS_AND_PASSES, type NodeCompiler } from './graph-node.ts'
import type { Named, TableParts } from './parts.ts'
import type { TableOrigin } from './table-origin.ts'
import type { WindowsDefinition } from './windows.ts'

/** Options of `suppress`, their types forgotten. */
export interface ErasedSuppressOptions extends Named {
  readonly until: unknown
  readonly maxRecords?: number | undefined
  readonly maxBytes?: number | undefined
  readonly whenFull?: 'emit' | 'stop' | undefined
}

/** `suppress`. Kafka Streams: `KTableImpl.suppress`, with its order of taking numbers. */
export function addSuppress(table: TableParts, options: ErasedSuppressOptions): TableParts {
  const { graph, key } = table
  const name = options.name ?? graph.numberedName('KTABLE-SUPPRESS-')
  const storeName = options.name === undefined ? graph.numberedStoreName('KTABLE-SUPPRESS-') : `${options.name}-store`
  if (options.name === undefined) graph.numberedResources.push(storeName)
  const limits = limitsOf(table, options, name)
  if (table.value === undefined) {
    graph.report('SERDE_MISSING', {
      node: name,
      what: `${name} keeps updates in its buffer, and no serde of their values is known.`,
      action: 'State it before with withSerdes({ value: … }), or give the step before a store with a serde.',
    })
  }
  if (table.origin.isVersioned) {
    graph.report('TOPOLOGY_INVALID', {
      node: name,
      what: `${name} holds back the updates of a table with versions, of which some are older than others.`,
      action: 'Leave out `versioned` of the table, or the suppress.',
    })
  }
  const value = withoutNull(table.value ?? bytes)
  const definition: StoreDefinition = { name: storeName, kind: 'suppress', key: withoutNull(key), value, options: {} }
  // The buffer shows what downstream has seen, so it has to know what there was before.
  table.origin.sendOld(true)
  graph.addStore(definition)
  const node = graph.add({
    name,
    parents: [table.node],
    use: side => (side === 'key' ? { ...READS_AND_PASSES, passes: false, writes: [definition.key] } : READS),
    serdes: { key, value: table.value },
    compile: compiler => {
      const topic = compiler.changelogTopic(storeName)
      const keySerde = erasedSerde(definition.key)
      const context = { topic, side: 'key' as const, headers: NO_HEADERS }
      return suppress(
        {
          ...compiler.site,
          store: compiler.suppressStore(storeName),
          keyBytes: compiler.keyBytes(definition.key, topic),
          readKey: keyBytes => keySerde.deserialize(keyBytes, context),
          observed: compiler.variable('time', -1),
        },
        limits,
        compiler.next,
      )
    },
  })
  graph.connect(node, storeName)
  return { ...table, node, origin: new SuppressedTable(table.origin, storeName), definition: undefined }
}

/** A table whose updates are held back. Kafka Streams: `KTableSuppressProcessorSupplier`. */
class SuppressedTable implements TableOrigin {
  readonly #parent: TableOrigin
  readonly #store: string

  constructor(parent: TableOrigin, store: string) {
    this.#parent = parent
    this.#store = store
  }

  get sendsOld(): boolean {
    return true
  }

  sendOld(force: boolean): boolean {
    return this.#parent.sendOld(force)
  }

  materialize(): void {
    this.#parent.materialize()
  }

  stores(): readonly string[] {
    return [...this.#parent.stores(), this.#store]
  }

  get readsKey(): boolean {
    return true
  }

  get isVersioned(): boolean {
    return false
  }

  getter(compiler: NodeCompiler): TableGetter {
    return suppressedGetter(compiler.suppressStore(this.#store), this.#parent.getter(compiler))
  }
}

function limitsOf({ graph, windows }: TableParts, options: ErasedSuppressOptions, name: string): SuppressLimits {
  const report = (what: string, action?: string): void => {
    graph.report('TOPOLOGY_INVALID', {
      node: name,
      what: `${name}: ${what}`,
      ...(action === undefined ? {} : { action }),
    })
  }
  const { until, maxRecords = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY } = options
  for (const [bound, value] of [
    ['maxRecords', maxRecords],
    ['maxBytes', maxBytes],
  ] as const) {
    if (!(value > 0)) report(`${bound} is a number above 0, got ${String(value)}.`)
  }
  if (until === 'windowCloses') {
    if (options.whenFull === 'emit') report('a final result cannot be early.', "Leave out whenFull: 'emit'.")
    if (windows === undefined) report('only the windows of a windowed table close.', 'Give a time: { until: 5000 }.')
    return {
      until: 'windowEnd',
      waitMs: windows === undefined ? 0 : closedAfterMs(windows),
      maxRecords,
      maxBytes,
      whenFull: 'stop',
    }
  }
  const waitMs = parseDurationMs(until)
  if (waitMs === undefined) {
    report(`until is 'windowCloses' or a duration such as '5s' or 5000, got ${JSON.stringify(until)}.`)
  }
  return { until: 'firstUpdate', waitMs: waitMs ?? 0, maxRecords, maxBytes, whenFull: options.whenFull ?? 'emit' }
}

/** How long after its end a window may still change, in ms. Kafka Streams: `GraphGraceSearchUtil`. */
function closedAfterMs(windows: WindowsDefinition): number {
  return windows.kind === 'session' ? windows.graceMs + windows.gapMs : windows.graceMs
}
