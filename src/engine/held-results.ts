import type { ErrorPolicies } from '../model/record-failure.ts'
import type { AnyState } from '../stores/any-state.ts'
import type { SuppressState } from '../stores/suppress-state.ts'
import type { WriteCache } from '../stores/write-cache.ts'

/** What fails while held-back results leave stops the task: the record that caused them is done already. */
export const STOP_ALWAYS: ErrorPolicies = { deserialization: 'stop', processing: 'stop', production: 'stop' }

/** What a task's stores hold back until a commit: results in caches, and the changelogs of caches and buffers. */
export class HeldResults {
  readonly #caches: readonly WriteCache[]
  readonly #buffers: readonly SuppressState[]

  constructor(stores: readonly AnyState[]) {
    this.#caches = stores.flatMap(store => ('cache' in store && store.cache !== undefined ? [store.cache] : []))
    this.#buffers = stores.flatMap(store => (store.kind === 'suppress' ? [store] : []))
  }

  /** Whether nothing is ever held back. */
  get isNone(): boolean {
    return this.#caches.length === 0 && this.#buffers.length === 0
  }

  /** Lets go what caches have no room for. */
  evict(): void {
    for (const cache of this.#caches) cache.evict()
  }

  /** Lets everything go. */
  flush(): void {
    // What one cache tells may be held back by another.
    while (this.#caches.some(cache => !cache.isEmpty)) for (const cache of this.#caches) cache.flush()
    for (const buffer of this.#buffers) buffer.flush()
  }
}
