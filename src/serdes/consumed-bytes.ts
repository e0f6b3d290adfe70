import type { AnySerde } from './serde.ts'
import { isJson } from './json.ts'
import { withoutNull } from './nullable.ts'
import { bigint, boolean, double, integer, long } from './numbers.ts'
import { bytes, string, uuid } from './text.ts'

const CONSUMING: ReadonlySet<AnySerde> = new Set<AnySerde>([
  long,
  bigint,
  integer,
  double,
  boolean,
  string,
  uuid,
  bytes,
])

/** Whether what a serde reads has nothing of the bytes any more. Only serdes of this library are known to. */
export function consumesBytes(serde: AnySerde): boolean {
  const plain = withoutNull(serde)
  return CONSUMING.has(plain) || isJson(plain)
}
