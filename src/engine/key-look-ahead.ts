import type { RecordSource } from '../model/record-source.ts'
import { UpcomingKeys } from '../model/upcoming-keys.ts'
import type { StateStore } from '../stores/state-store.ts'

/** Has the stores that records are looked up in by their own key get ready for a few records at a time, before they are processed. */
export class KeyLookAhead {
  readonly #stores: readonly Pick<StateStore, 'lookAhead'>[]
  readonly #keys = new UpcomingKeys()
  /** Which of the keys is that of the record the source stands on. */
  #at = 0

  constructor(stores: readonly Pick<StateStore, 'lookAhead'>[]) {
    this.#stores = stores
  }

  /** To be told of each record a source has moved to. */
  moved(source: RecordSource): void {
    this.#at += 1
    if (this.#at < this.#keys.count) return
    this.#at = 0
    this.#keys.clear()
    source.readUpcomingKeys?.(this.#keys)
    // Of one there is nothing to gain.
    if (this.#keys.count > 1) for (const store of this.#stores) store.lookAhead?.(this.#keys)
  }

  /** To be told when a source is left: the next one has other records. */
  left(): void {
    this.#keys.clear()
  }

  /** The `murmur2` of the key of the record moved to; `undefined` when it is not known. */
  get keyHash(): number | undefined {
    return this.#at < this.#keys.count ? this.#keys.hashes[this.#at] : undefined
  }
}
