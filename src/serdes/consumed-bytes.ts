import type { AnySerde } from './serde.ts'
import { isJson } from './json.ts'
import { withoutNull } from './nullable.ts'
import { readsPrimitives } from './primitives.ts'
import { bytes } from './text.ts'

/** Whether what a serde reads has nothing of the bytes any more. Only serdes of this library are known to. */
export function consumesBytes(serde: AnySerde): boolean {
  const plain = withoutNull(serde)
  return readsPrimitives(plain) || plain === bytes || isJson(plain)
}
