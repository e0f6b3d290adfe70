import { NO_HEADERS } from '../model/headers.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import { readsPrimitives } from '../serdes/primitives.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import { headersLogged, type Changelog, type LoggedHeaders } from './changelog.ts'
import type { UpdateContext } from './suppress-state.ts'

/** A write that is held back until the commit; later writes of the key take its place. */
export interface CachedWrite {
  /** Key of the changelog record. */
  readonly key: Buffer
  /** The value's bytes; `null` for a deletion. */
  readonly bytes: Buffer | null
  readonly value: unknown
  /** Time of the value, and of its changelog record. */
  readonly timestamp: number
  /** The value before all that were held back; `null` when there was none. */
  readonly old: unknown
  /** The record that wrote. */
  readonly context: UpdateContext
}

interface Held extends CachedWrite {
  /** Order of the writes: a key is told of at the place of its latest. */
  readonly sequence: number
  /** Whether the listener was given the values, which it may have changed in place. */
  isTold: boolean
  /** The value before as it was then; `undefined` where it was not given, or cannot be changed. */
  oldBytes: Uint8Array | undefined
}

/** What a cache works with. */
export interface WriteCacheOptions {
  readonly changelog: Changelog | undefined
  readonly loggedHeaders: LoggedHeaders
  /** Most bytes of keys and values held; the oldest are told of early beyond that. */
  readonly maxBytes: number
  /** The record that is being processed. */
  readonly context: () => UpdateContext
  /** Serde of the values. */
  readonly value: AnySerde
  /** Topic of the changelog, for the serde. */
  readonly topic: string
}

/**
 * Holds back the changelog records and results of a store until the commit: one of each per key. The store itself is written
 * at once. Kafka Streams: `CachingKeyValueStore`, `CachingWindowStore`, `CachingSessionStore`, `NamedCache`.
 */
export class WriteCache {
  /** Whether the store behind the cache would still show the value before of a changelog key; asked in the order of the flush. */
  showsOld: (key: Buffer) => boolean = () => true
  /** Told of each changelog key that goes to the store behind the cache, before its record is written. */
  passes: (key: Buffer) => void = () => undefined
  /** Told of each key at a flush, in the order of their latest writes. */
  listener: ((write: CachedWrite) => void) | undefined
  /** Whether the listener is given the values before too. */
  tellsOld: () => boolean = () => false
  /** Most bytes of keys and values held. */
  readonly maxBytes: number
  readonly loggedHeaders: LoggedHeaders
  /** Serde of values that can be changed in place; `undefined` for others. */
  readonly #serde: ErasedSerde | undefined
  readonly #serdeContext: SerdeContext
  readonly #changelog: Changelog | undefined
  readonly #context: () => UpdateContext
  /** By key, in the order of the latest writes unless something was put back. */
  readonly #held = new Map<string, Held>()
  #isOrdered = true
  /** What keys had at the record's savepoint. */
  readonly #record = new Map<string, Held | undefined>()
  #sequence = 0
  #bytes = 0

  constructor({ changelog, loggedHeaders, maxBytes, context, value, topic }: WriteCacheOptions) {
    this.#changelog = changelog
    this.loggedHeaders = loggedHeaders
    this.maxBytes = maxBytes
    this.#context = context
    this.#serde = readsPrimitives(value) ? undefined : erasedSerde(value)
    this.#serdeContext = { topic, side: 'value', headers: NO_HEADERS }
  }

  get isEmpty(): boolean {
    return this.#held.size === 0
  }

  /** Whether a write of the key is held; its value before needs not be looked up then. */
  holds(key: Uint8Array): boolean {
    return this.#held.has(textOf(key))
  }

  /** Notes a write that the store has made; `old` is only taken for a key that is not held. */
  write(key: Uint8Array, bytes: Uint8Array | null, value: unknown, timestamp: number, old: unknown): void {
    const text = textOf(key)
    const held = this.#held.get(text)
    if (!this.#record.has(text)) this.#record.set(text, held)
    this.#sequence += 1
    this.#set(text, {
      key: held?.key ?? Buffer.from(key),
      bytes: bytes === null ? null : Buffer.from(bytes),
      value,
      timestamp,
      old: held === undefined ? (old ?? null) : held.old,
      context: this.#context(),
      sequence: this.#sequence,
      isTold: false,
      oldBytes: undefined,
    })
  }

  /** Tells of everything held, and writes it to the changelog. */
  flush(): void {
    this.#putInOrder()
    const writes = [...this.#held.values()]
    // Put back if one of them fails: nothing was told then.
    for (const [text, held] of this.#held) if (!this.#record.has(text)) this.#record.set(text, held)
    this.#clear()
    for (const write of writes) this.#tell(write)
  }

  endRecord(): void {
    this.#record.clear()
  }

  rollbackRecord(): void {
    for (const [text, held] of this.#record) {
      this.#remove(text)
      if (held === undefined) continue
      this.#set(text, held.isTold ? this.#asItWas(held) : held)
      this.#isOrdered = false
    }
    this.#record.clear()
  }

  /** Whether more is held than there is room for; the oldest write leaves then. */
  evict(): void {
    if (this.#bytes <= this.maxBytes) return
    this.#putInOrder()
    for (const [text, oldest] of this.#held) {
      if (this.#bytes <= this.maxBytes) return
      if (!this.#record.has(text)) this.#record.set(text, oldest)
      this.#remove(text)
      this.#tell(oldest)
    }
  }

  /** Forgets everything: the transaction is aborted. */
  abort(): void {
    this.#clear()
    this.#record.clear()
  }

  /** A key that came and went leaves no trace when results are told of, as in the JVM. */
  #tell(held: Held): void {
    const write = this.showsOld(held.key) ? held : { ...held, old: null }
    if (write.bytes === null && write.old === null && this.listener !== undefined) return
    this.passes(write.key)
    const headers = headersLogged(this.loggedHeaders, write.bytes, write.context.headers)
    this.#changelog?.append(write.key, write.bytes, write.timestamp, headers)
    if (this.listener === undefined) return
    if (this.#serde !== undefined) {
      held.isTold = true
      if (held.old !== null && this.tellsOld()) {
        held.oldBytes ??= Uint8Array.from(this.#serde.serialize(held.old, this.#serdeContext))
      }
    }
    this.listener(write)
  }

  /** A write that is put back after it was told, with values that nobody else has. */
  #asItWas(held: Held): Held {
    const { bytes, oldBytes } = held
    return {
      ...held,
      isTold: false,
      value: bytes === null ? held.value : this.#read(bytes),
      old: oldBytes === undefined ? held.old : this.#read(oldBytes),
    }
  }

  #read(bytes: Uint8Array): unknown {
    return this.#serde?.deserialize(Buffer.from(bytes), this.#serdeContext)
  }

  /** What was put back stands at the end of the map. */
  #putInOrder(): void {
    if (this.#isOrdered) return
    const inOrder = [...this.#held].toSorted(([, a], [, b]) => a.sequence - b.sequence)
    this.#held.clear()
    for (const [text, held] of inOrder) this.#held.set(text, held)
    this.#isOrdered = true
  }

  #set(text: string, held: Held): void {
    this.#remove(text)
    this.#held.set(text, held)
    this.#bytes += held.key.length + (held.bytes?.length ?? 0)
  }

  #remove(text: string): void {
    const held = this.#held.get(text)
    if (held === undefined) return
    this.#bytes -= held.key.length + (held.bytes?.length ?? 0)
    this.#held.delete(text)
  }

  #clear(): void {
    this.#held.clear()
    this.#isOrdered = true
    this.#bytes = 0
  }
}

/** One character per byte. */
function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}
