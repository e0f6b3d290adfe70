import type { Serde } from '../serdes/serde.ts'

/**
 * Serde of values that a store makes and reads itself: bytes as they lie in the store. What is read is a view, valid until
 * the value is replaced.
 */
export const STORED_BYTES: Serde<Buffer> = {
  name: 'stored bytes',
  serialize: value => value,
  deserialize: value => value,
}

/** A value that was written as stored bytes. */
export function storedBytes(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value
  throw new TypeError('the store keeps bytes')
}
