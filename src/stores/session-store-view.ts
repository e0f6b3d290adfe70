import { NO_HEADERS } from '../model/headers.ts'
import type { Windowed } from '../model/windowed.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import type { SessionState } from './session-state.ts'
import type { Entry, SessionStore } from './store-types.ts'

/** What a user's session store needs beside its state. */
export interface SessionStoreViewOptions {
  readonly state: SessionState
  readonly key: AnySerde
  /** Time of a write: that of the record being processed. */
  readonly nowMs: () => number
}

/** A session store as user code sees it: typed keys over a store of bytes. Kafka Streams: `MeteredSessionStore`. */
export class SessionStoreView implements SessionStore<unknown, unknown> {
  readonly #state: SessionState
  readonly #key: ErasedSerde
  readonly #context: SerdeContext
  readonly #nowMs: () => number

  constructor({ state, key, nowMs }: SessionStoreViewOptions) {
    this.#state = state
    this.#key = erasedSerde(key)
    this.#context = { topic: state.changelogTopic ?? state.name, side: 'key', headers: NO_HEADERS }
    this.#nowMs = nowMs
  }

  get(key: unknown, start: number, end: number): unknown {
    return this.#state.get(this.#bytesOf(key), start, end)
  }

  put({ key, start, end }: Windowed<unknown>, value: unknown): void {
    this.#state.put(this.#bytesOf(key), start, end, value ?? null, this.#nowMs())
  }

  remove(session: Windowed<unknown>): void {
    this.put(session, null)
  }

  findSessions(key: unknown, earliestEnd: number, latestStart: number): Iterable<Entry<Windowed<unknown>, unknown>> {
    // Taken at once: user code removes what it has merged while it iterates.
    const found: Entry<Windowed<unknown>, unknown>[] = []
    this.#state.findSessions(this.#bytesOf(key), earliestEnd, latestStart, (start, end, value) => {
      found.push([{ key, start, end }, value])
      return true
    })
    return found
  }

  fetch(key: unknown): Iterable<Entry<Windowed<unknown>, unknown>> {
    return this.findSessions(key, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  }

  #bytesOf(key: unknown): Uint8Array {
    if (key === null || key === undefined) throw new TypeError(`the key of an entry of ${this.#state.name} is null`)
    return this.#key.serialize(key, this.#context)
  }
}
