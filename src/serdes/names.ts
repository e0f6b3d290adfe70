import { json } from './json.ts'
import { nullable } from './nullable.ts'
import { bigint, boolean, double, integer, long } from './numbers.ts'
import type { AnySerde, Serde } from './serde.ts'
import { bytes, string, uuid } from './text.ts'

/** The serdes that configuration may name, each as it is and as `<name>?` for a side where nulls are expected. */
const BY_NAME: ReadonlyMap<string, AnySerde> = new Map(
  [
    both(string),
    both(long),
    both(bigint),
    both(integer),
    both(double),
    both(boolean),
    both(uuid),
    both(bytes),
    both(json()),
  ].flat(),
)

/** Names of all serdes, without their nullable forms. */
export const SERDE_NAMES: readonly string[] = [...BY_NAME.keys()].filter(name => !name.endsWith('?'))

/** The serde of a name such as `json` or `string?`; `undefined` when there is none. The same name gives the same object. */
export function serdeNamed(name: string): AnySerde | undefined {
  return BY_NAME.get(name)
}

function both<T>(serde: Serde<T>): [string, AnySerde][] {
  const withNull = nullable(serde)
  return [
    [serde.name, serde],
    [withNull.name, withNull],
  ]
}
