import type { AnySerde, Serializer } from './serde.ts'

/** Whether a value has what a serde needs: `name`, `serialize` and `deserialize`. */
export function isSerde(value: unknown): value is AnySerde {
  return isSerializer(value) && 'deserialize' in value && typeof value.deserialize === 'function'
}

/** Whether a value has what the writing half of a serde needs: `name` and `serialize`. */
export function isSerializer(value: unknown): value is Serializer<never> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'serialize' in value &&
    typeof value.serialize === 'function'
  )
}
