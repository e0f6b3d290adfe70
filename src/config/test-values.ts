import { withoutNull } from '../serdes/nullable.ts'
import type { AnySerde } from '../serdes/serde.ts'

/** A value of a test as its serde takes it: YAML knows no bytes, no bigints, and `1` may stand for the text "1". */
export function testValue(value: unknown, serde: AnySerde | undefined): unknown {
  if (value === null || value === undefined) return null
  switch (serde === undefined ? 'bytes' : withoutNull(serde).name) {
    case 'bytes':
      return typeof value === 'string' ? Buffer.from(value, 'utf8') : Buffer.from(JSON.stringify(value), 'utf8')
    case 'bigint':
      return typeof value === 'number' || typeof value === 'string' ? BigInt(value) : value
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    default:
      return value
  }
}
