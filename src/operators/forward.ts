import type { RecordHeaders } from '../model/headers.ts'

/**
 * Hands a record to the next operator. Key and value are decoded, or raw bytes where nobody downstream reads them. Between
 * table operators `value` is the new value and `old` the one before (`null` = none). Positional, so that a step allocates
 * nothing.
 */
export type Forward = (key: unknown, value: unknown, timestamp: number, headers: RecordHeaders, old?: unknown) => void

/** Ends a chain. */
export const nowhere: Forward = () => {}

/** One `Forward` for all children, in their order. */
export function toAll(children: readonly Forward[]): Forward {
  const [first, second, third] = children
  if (first === undefined) return nowhere
  if (second === undefined) return first
  if (third === undefined) {
    return (key, value, timestamp, headers, old) => {
      first(key, value, timestamp, headers, old)
      second(key, value, timestamp, headers, old)
    }
  }
  return (key, value, timestamp, headers, old) => {
    for (const child of children) child(key, value, timestamp, headers, old)
  }
}
