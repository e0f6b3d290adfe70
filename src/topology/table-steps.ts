import type { Forward } from '../operators/forward.ts'
import type { Step } from '../operators/step.ts'
import {
  latestOnly,
  tableFilter,
  tableMapValues,
  tableTransformValues,
  tableToStream,
  type TableParts as TableOperatorParts,
} from '../operators/table.ts'
import { tableSelect, type EntrySelector } from '../operators/table-group.ts'
import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { bytes } from '../serdes/text.ts'
import type { StoreDefinition, StoreSpec } from '../stores/store-spec.ts'
import { usedStores } from './processor-node.ts'
import { resultsOf } from './cached-results.ts'
import { PASSES, READS, READS_AND_PASSES, type NodeCompiler } from './graph-node.ts'
import type { ErasedTableOptions, GroupedTableParts, Named, StreamParts, TableParts } from './parts.ts'
import { readsOf } from './reads.ts'
import { DerivedTable, StoredTable } from './table-origin.ts'

/** Makes the function that transforms values. Kafka Streams: `ValueTransformerWithKeySupplier`. */
export type TransformerSupplier = (context: { readonly stores: Readonly<Record<string, unknown>> }) => Step

/** What is particular to one kind of table step. */
interface TableStep {
  readonly prefix: string
  /** User code that may read the key. */
  readonly step: object
  readonly value: AnySerde | undefined
  readonly passesValue: boolean
  readonly derived: DerivedTable
  readonly compile: (parts: TableOperatorParts, compiler: NodeCompiler) => Forward
}

/** `filter` and `filterNot` of a table. */
export function addTableFilter(
  table: TableParts,
  predicate: Step,
  keep: boolean,
  options: ErasedTableOptions,
): TableParts {
  const filtered = addTableStep(table, options, {
    prefix: 'KTABLE-FILTER-',
    step: predicate,
    value: options.value ?? table.value,
    passesValue: true,
    derived: new DerivedTable(table.origin, { kind: 'filter', step: predicate, keep }),
    compile: (parts, { next }) => tableFilter(parts, predicate, keep, next),
  })
  // With the values before at hand, deletions of what was never let through need not be sent.
  if (table.origin.sendOld(false)) filtered.origin.sendOld(false)
  return filtered
}

/** `mapValues` of a table. */
export function addTableMapValues(table: TableParts, mapper: Step, options: ErasedTableOptions): TableParts {
  // A number for the store that a serde without a name would have had, as in the JVM.
  if (options.value !== undefined && options.store === undefined) table.graph.numberedStoreName('KTABLE-MAPVALUES-')
  return addTableStep(table, options, {
    prefix: 'KTABLE-MAPVALUES-',
    step: mapper,
    value: options.value,
    passesValue: false,
    derived: new DerivedTable(table.origin, { kind: 'mapValues', step: mapper }),
    compile: (parts, { next }) => tableMapValues(parts, mapper, next),
  })
}

/** `transformValues`: the function is made once per task, with the stores it uses. */
export function addTableTransformValues(
  table: TableParts,
  newTransformer: TransformerSupplier,
  options: ErasedTableOptions & { readonly stores?: Readonly<Record<string, StoreSpec<unknown>>> | undefined },
): TableParts {
  const stores: Map<string, StoreDefinition> = new Map()
  const newStep = (compiler: NodeCompiler): Step =>
    newTransformer({
      stores: Object.fromEntries([...stores].map(([use, definition]) => [use, compiler.storeView(definition)])),
    })
  const transformed = addTableStep(table, options, {
    prefix: 'KTABLE-TRANSFORMVALUES-',
    step: newTransformer,
    value: options.value,
    passesValue: false,
    derived: new DerivedTable(table.origin, { kind: 'transformValues', newStep }),
    compile: (parts, compiler) => tableTransformValues(parts, newStep(compiler), compiler.next),
  })
  const { graph, node } = transformed
  for (const [use, definition] of usedStores(graph, options.stores, node.name)) {
    stores.set(use, definition)
    graph.addStore(definition)
    graph.connect(node, definition.name)
  }
  return transformed
}

/** `toStream`. */
export function addToStream({ graph, node: parent, key, value, sources }: TableParts, options: Named): StreamParts {
  const node = graph.add({
    name: graph.nameOr(options.name, 'KTABLE-TOSTREAM-'),
    parents: [parent],
    use: () => PASSES,
    serdes: { key, value },
    compile: ({ next }) => tableToStream(next),
  })
  return { graph, node, key, value, rekeyed: false, sources }
}

/** `groupBy` of a table: asks for the values before. */
export function addTableGroupBy(
  { graph, node: parent, origin }: TableParts,
  selector: EntrySelector,
  options: Named & { readonly key: AnySerde; readonly value: AnySerde },
): GroupedTableParts {
  const { key, value } = options
  const name = graph.nameOr(options.name, 'KTABLE-SELECT-')
  const node = graph.add({
    name,
    parents: [parent],
    use: () => READS,
    serdes: { key, value },
    compile: compiler => {
      const select = tableSelect(compiler.site, selector, compiler.newKeyBytes(key, name), compiler.next)
      return origin.isVersioned ? latestOnly(compiler.site, compiler.dropped, select) : select
    },
  })
  origin.sendOld(true)
  return { graph, node, name: options.name, key, value, repartitioned: undefined }
}

function addTableStep(table: TableParts, options: ErasedTableOptions, kind: TableStep): TableParts {
  const { graph, key } = table
  const name = graph.nameOr(options.name, kind.prefix)
  const definition = keptStoreOf(table, { ...options, value: kind.value }, name)
  const origin = definition === undefined ? kind.derived : new StoredTable(definition.name)
  const node = graph.add({
    name,
    parents: [table.node],
    use: side => {
      if (side === 'value') return kind.passesValue ? READS_AND_PASSES : READS
      return { ...PASSES, reads: readsOf(kind.step, 'key'), writes: definition === undefined ? [] : [key] }
    },
    serdes: { key, value: kind.value },
    compile: compiler =>
      kind.compile(
        {
          ...compiler.site,
          kept:
            definition === undefined
              ? undefined
              : {
                  store: compiler.store(definition.name),
                  keyBytes: compiler.keyBytes(key, compiler.changelogTopic(definition.name)),
                },
          sendsOld: origin.sendsOld,
          isVersioned: table.origin.isVersioned,
        },
        definition === undefined
          ? compiler
          : { ...compiler, next: resultsOf(compiler, compiler.store(definition.name), key, () => origin.sendsOld) },
      ),
  })
  if (definition !== undefined) {
    graph.addStore(definition)
    graph.connect(node, definition.name)
  }
  return { ...table, node, value: kind.value, origin, definition }
}

/** The store a table step keeps its result in, if it was given a name. */
export function keptStoreOf(
  { graph, key }: TableParts,
  options: ErasedTableOptions,
  step: string,
): StoreDefinition | undefined {
  if (options.store === undefined) return undefined
  if (options.value === undefined) {
    graph.report('SERDE_MISSING', {
      node: step,
      what: `${step} keeps its result in the store ${options.store}, and no serde of its value is known.`,
      action: 'Give the step a serde: { value: … }.',
    })
  }
  return { name: options.store, kind: 'timestampedKeyValue', key, value: withoutNull(options.value ?? bytes), options }
}
