import { processRecords, type ErasedProcessorSupplier } from '../operators/processor-context.ts'
import type { AnySerde } from '../serdes/serde.ts'
import { isDefined, type StoreDefinition, type StoreSpec } from '../stores/store-spec.ts'
import type { Graph } from './graph.ts'
import { READS, READS_AND_PASSES, type GraphNode } from './graph-node.ts'

/** A processor supplier with its types forgotten. */
export interface ErasedSupplier extends ErasedProcessorSupplier {
  readonly name?: string | undefined
  readonly stores?: Readonly<Record<string, StoreSpec<unknown>>> | undefined
  readonly key?: AnySerde | undefined
  readonly value?: AnySerde | undefined
}

/** Adds a user's processor with its stores. */
export function addProcessor(graph: Graph, parent: GraphNode, supplier: ErasedSupplier, keepsKey: boolean): GraphNode {
  const name = graph.nameOr(supplier.name, keepsKey ? 'KSTREAM-PROCESSVALUES-' : 'KSTREAM-PROCESSOR-')
  const stores = usedStores(graph, supplier.stores, name)
  const node = graph.add({
    name,
    parents: [parent],
    // Whatever it does to key and value: no topic may move from behind it to before it.
    effect: 'changesValue',
    use: side => (keepsKey && side === 'key' ? READS_AND_PASSES : READS),
    serdes: { key: supplier.key, value: supplier.value },
    compile: compiler =>
      processRecords(
        {
          ...compiler.site,
          host: compiler.host,
          stores: Object.fromEntries([...stores].map(([use, definition]) => [use, compiler.storeView(definition)])),
          keepsKey,
          next: compiler.next,
          childNamed: child => compiler.childNamed(child),
        },
        supplier,
      ),
  })
  for (const definition of stores.values()) {
    graph.addStore(definition)
    graph.connect(node, definition.name)
  }
  return node
}

/** The stores a user's function asks for, by the name it uses for them. */
export function usedStores(
  graph: Graph,
  specs: Readonly<Record<string, StoreSpec<unknown>>> | undefined,
  node: string,
): ReadonlyMap<string, StoreDefinition> {
  const stores = new Map<string, StoreDefinition>()
  for (const [use, spec] of Object.entries(specs ?? {})) {
    const definition = definitionOf(graph, spec, node)
    if (definition !== undefined) stores.set(use, definition)
  }
  return stores
}

function definitionOf(graph: Graph, spec: StoreSpec<unknown>, node: string): StoreDefinition | undefined {
  if (isDefined(spec)) return spec.definition
  graph.report('TABLE_NOT_MATERIALIZED', {
    node,
    what: `The processor ${node} uses the store of a table that has none: ${spec.name}.`,
  })
  return undefined
}
