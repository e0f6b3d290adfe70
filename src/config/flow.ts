import type { StreamHandle, TableHandle } from '../topology/handles.ts'
import type { AnySerde } from '../serdes/serde.ts'

/** What a source or step gives to those that read it. */
export type Flow =
  { readonly kind: 'stream'; readonly handle: StreamHandle } | { readonly kind: 'table'; readonly handle: TableHandle }

/** The serdes of a flow, as far as they are known. */
export function serdesOf(flow: Flow): { readonly key: AnySerde | undefined; readonly value: AnySerde | undefined } {
  const { key, value } = flow.handle.parts
  return { key, value }
}
