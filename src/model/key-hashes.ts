import { murmur2 } from './murmur2.ts'

/**
 * The hash of the key a task works with: its stores and the partitions it writes to all ask for the same one, `murmur2`.
 * A key is known by identity, so whoever puts other bytes into the same buffer says so by `know` or `forget`.
 */
export class KeyHashes {
  #key: Uint8Array | undefined
  #hash = 0

  /** The `murmur2` of a key. */
  of(key: Uint8Array): number {
    return key === this.#key ? this.#hash : murmur2(key)
  }

  /** Tells what the bytes of a key hash to, for as long as they stay. */
  know(key: Uint8Array, hash: number): void {
    this.#key = key
    this.#hash = hash
  }

  forget(): void {
    this.#key = undefined
  }
}
