import type { GlobalTableHandle, StreamHandle, TableHandle } from '../topology/handles.ts'
import type { AnySerde } from '../serdes/serde.ts'

/** What a source or step gives to those that read it. */
export type Flow =
  | { readonly kind: 'stream'; readonly handle: StreamHandle }
  | { readonly kind: 'table'; readonly handle: TableHandle }
  | { readonly kind: 'globalTable'; readonly handle: GlobalTableHandle }

/** What steps and sinks may read. */
export type ReadableFlow = Exclude<Flow, { readonly kind: 'globalTable' }>

/** The serdes of a flow, as far as they are known. */
export function serdesOf(flow: Flow): { readonly key: AnySerde | undefined; readonly value: AnySerde | undefined } {
  const { key, value } = flow.kind === 'globalTable' ? flow.handle.definition : flow.handle.parts
  return { key, value }
}
