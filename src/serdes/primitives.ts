import { withoutNull } from './nullable.ts'
import { bigint, boolean, double, integer, long } from './numbers.ts'
import type { AnySerde } from './serde.ts'
import { string, uuid } from './text.ts'

const PRIMITIVE: ReadonlySet<object> = new Set<object>([long, bigint, integer, double, boolean, string, uuid])

/**
 * Whether a serde, nullable or not, reads values that nobody can change in place, so that keeping the value is as good as
 * keeping its bytes. Only serdes of this library are known to.
 */
export function readsPrimitives(serde: AnySerde): boolean
export function readsPrimitives(serde: object): boolean
export function readsPrimitives(serde: object): boolean {
  return PRIMITIVE.has(withoutNull(serde))
}
