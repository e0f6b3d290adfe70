import { murmur2 } from './murmur2.ts'

/**
 * The hash of the key a task works with: its stores and the partitions it writes to all ask for the same one, `murmur2`.
 * A key is known by identity, so whoever puts other bytes into the same buffer says so by `know` or `forget`.
 */
export class KeyHashes {
  #key: Uint8Array | undefined
  #hash = 0
  #version = 0

  /** The `murmur2` of a key. */
  of(key: Uint8Array): number {
    return key === this.#key ? this.#hash : murmur2(key)
  }

  /** A number that is another once a key has other bytes, if it is the key known of; −1 for any other key. */
  versionOf(key: Uint8Array): number {
    return key === this.#key ? this.#version : -1
  }

  /** Tells what the bytes of a key hash to, for as long as they stay. */
  know(key: Uint8Array, hash: number): void {
    this.#version += 1
    this.#key = key
    this.#hash = hash
  }

  forget(): void {
    this.#version += 1
    this.#key = undefined
  }
}
