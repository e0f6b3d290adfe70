import { assert } from '../model/assert.ts'
import { MillraceError } from '../model/errors.ts'
import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import { erasedSerde, type ErasedSerde } from '../serdes/erased-serde.ts'
import { INT64_BYTES, writeSafeInt64 } from '../serdes/int64.ts'
import type { AnySerde, SerdeContext } from '../serdes/serde.ts'
import {
  decodeHeldUpdate,
  encodeHeldUpdate,
  HELD_UPDATE_HEADERS,
  heldSize,
  type HeldBytes,
} from './held-update-codec.ts'
import { javaByteOrder, javaSlots } from './java-hash-order.ts'
import { STAMPED_WHEN_SENT, type Changelog } from './changelog.ts'
import { OrderedEntries } from './ordered-entries.ts'
import type { HeldUpdate, SuppressState, UpdateContext } from './suppress-state.ts'

/** Options of a suppress buffer in memory. */
export interface MemorySuppressStoreOptions {
  readonly name: string
  readonly value: AnySerde
  /** Where changes go; `undefined` without logging. */
  readonly changelog: Changelog | undefined
}

/** A held update; never changed, only replaced, so that an older one can come back. */
interface Slot extends HeldBytes {
  readonly key: Buffer
  readonly time: number
  /** `time | key`: its place. */
  readonly place: Buffer
  readonly size: number
}

/** What a key had at a savepoint. */
interface Before {
  readonly key: Buffer
  readonly slot: Slot | undefined
}

/**
 * A suppress buffer in memory, with older updates kept per record and per transaction. Keys are told apart as text of their
 * bytes: an update costs an encoding of its values and context anyway, beside which the text is little.
 */
export class MemorySuppressStore implements SuppressState {
  readonly kind = 'suppress'
  readonly name: string
  readonly changelogTopic: string | undefined
  readonly #changelog: Changelog | undefined
  readonly #serde: ErasedSerde
  readonly #context: SerdeContext
  readonly #numbers = new Map<string, number>()
  readonly #slots: (Slot | undefined)[] = []
  readonly #free: number[] = []
  readonly #ordered = new OrderedEntries(entry => this.#slotAt(entry).place, [])
  readonly #record = new Map<string, Before & { readonly isFirst: boolean; readonly wasDirty: boolean }>()
  readonly #transaction = new Map<string, Before>()
  /** Keys to be written at the next flush, in the order of their first change. */
  readonly #dirty = new Map<string, Buffer>()
  #dirtySlots = javaSlots(0)
  #committedDirtySlots = this.#dirtySlots
  #heldBytes = 0
  #bytes = 0
  #closed = false

  constructor({ name, value, changelog }: MemorySuppressStoreOptions) {
    this.name = name
    this.#changelog = changelog
    this.changelogTopic = changelog?.topic
    this.#serde = erasedSerde(value)
    this.#context = { topic: this.changelogTopic ?? name, side: 'value', headers: NO_HEADERS }
  }

  get entries(): number {
    return this.#numbers.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  get dirty(): boolean {
    return this.#transaction.size > 0
  }

  get firstTime(): number {
    const first = this.#first()
    return first === undefined ? Number.POSITIVE_INFINITY : first.time
  }

  put(key: Uint8Array, time: number, value: unknown, old: unknown, context: UpdateContext): void {
    this.#assertOpen()
    const text = textOf(key)
    const number = this.#numbers.get(text)
    const held = number === undefined ? undefined : this.#slotAt(number)
    const oldBytes = this.#bytesOf(old)
    const copy = held?.key ?? Buffer.from(key)
    const slotTime = held?.time ?? time
    const parts: HeldBytes = {
      prior: held === undefined ? oldBytes : held.prior,
      old: oldBytes,
      value: this.#bytesOf(value),
      context,
    }
    const place = held?.place ?? placeOf(slotTime, copy)
    this.#change(text, copy, { ...parts, key: copy, time: slotTime, place, size: heldSize(copy, parts) })
  }

  first(): HeldUpdate | undefined {
    this.#assertOpen()
    const slot = this.#first()
    if (slot === undefined) return undefined
    return { key: slot.key, value: this.#valueOf(slot.value), old: this.#valueOf(slot.old), context: slot.context }
  }

  removeFirst(): void {
    const slot = this.#first()
    assert(slot !== undefined, 'an update that is taken out is held')
    this.#change(textOf(slot.key), slot.key, undefined)
  }

  holds(key: Uint8Array): boolean {
    return this.#numbers.has(textOf(key))
  }

  priorOf(key: Uint8Array): unknown {
    const number = this.#numbers.get(textOf(key))
    return number === undefined ? null : this.#valueOf(this.#slotAt(number).prior)
  }

  flush(): void {
    this.#assertOpen()
    const changelog = this.#changelog
    if (changelog !== undefined) {
      // The JVM's order, so that its changelog and ours are the same bytes.
      for (const key of javaByteOrder(this.#dirty.values(), this.#dirtySlots)) {
        const number = this.#numbers.get(textOf(key))
        if (number === undefined) {
          changelog.append(key, null, STAMPED_WHEN_SENT)
          continue
        }
        const slot = this.#slotAt(number)
        changelog.append(key, encodeHeldUpdate(slot, slot.time), STAMPED_WHEN_SENT, HELD_UPDATE_HEADERS)
      }
    }
    this.#dirty.clear()
  }

  restore(key: Buffer, value: Buffer | null, _timestamp: number, headers: RecordHeaders): void {
    this.#assertOpen()
    const copy = Buffer.from(key)
    const text = textOf(key)
    if (value === null) {
      this.#set(text, undefined)
      return
    }
    const { time, ...parts } = decodeHeldUpdate(value, headers)
    this.#set(text, { ...parts, key: copy, time, place: placeOf(time, copy), size: heldSize(copy, parts) })
  }

  endRecord(): void {
    this.#record.clear()
  }

  rollbackRecord(): void {
    for (const [text, { slot, isFirst, wasDirty }] of this.#record) {
      this.#set(text, slot)
      if (isFirst) this.#transaction.delete(text)
      if (!wasDirty) this.#dirty.delete(text)
    }
    this.#record.clear()
  }

  commit(): void {
    this.#record.clear()
    this.#transaction.clear()
    this.#committedDirtySlots = this.#dirtySlots
  }

  abort(): void {
    for (const [text, { slot }] of this.#transaction) this.#set(text, slot)
    this.#record.clear()
    this.#transaction.clear()
    this.#dirty.clear()
    this.#dirtySlots = this.#committedDirtySlots
  }

  clear(): void {
    for (const text of this.#numbers.keys()) this.#set(text, undefined)
    this.#record.clear()
    this.#transaction.clear()
    this.#dirty.clear()
  }

  close(): void {
    this.clear()
    this.#closed = true
  }

  #change(text: string, key: Buffer, slot: Slot | undefined): void {
    const number = this.#numbers.get(text)
    const before = number === undefined ? undefined : this.#slotAt(number)
    if (!this.#record.has(text)) {
      const isFirst = !this.#transaction.has(text)
      if (isFirst) this.#transaction.set(text, { key, slot: before })
      this.#record.set(text, { key, slot: before, isFirst, wasDirty: this.#dirty.has(text) })
    }
    if (!this.#dirty.has(text)) this.#dirty.set(text, key)
    this.#dirtySlots = javaSlots(this.#dirty.size, this.#dirtySlots)
    this.#set(text, slot)
  }

  #set(text: string, slot: Slot | undefined): void {
    let number = this.#numbers.get(text)
    if (number !== undefined) {
      const held = this.#slotAt(number)
      this.#count(held, -1)
      if (slot === undefined || !slot.place.equals(held.place)) {
        this.#ordered.remove(number)
        this.#slots[number] = undefined
        this.#free.push(number)
        this.#numbers.delete(text)
        number = undefined
      }
    }
    if (slot === undefined) return
    this.#count(slot, 1)
    if (number !== undefined) {
      this.#slots[number] = slot
      return
    }
    const added = this.#free.pop() ?? this.#slots.length
    this.#slots[added] = slot
    this.#numbers.set(text, added)
    this.#ordered.add(added)
  }

  #count(slot: Slot, sign: 1 | -1): void {
    this.#heldBytes += sign * slot.size
    this.#bytes +=
      sign * (slot.key.length + (slot.prior?.length ?? 0) + (slot.old?.length ?? 0) + (slot.value?.length ?? 0))
  }

  #first(): Slot | undefined {
    const { first } = this.#ordered
    return first === -1 ? undefined : this.#slotAt(first)
  }

  #slotAt(number: number): Slot {
    const slot = this.#slots[number]
    assert(slot !== undefined, 'a numbered key has an update')
    return slot
  }

  #bytesOf(value: unknown): Buffer | null {
    return value === null || value === undefined ? null : Buffer.from(this.#serde.serialize(value, this.#context))
  }

  #valueOf(bytes: Buffer | null): unknown {
    return bytes === null ? null : this.#serde.deserialize(bytes, this.#context)
  }

  #assertOpen(): void {
    if (this.#closed) throw new MillraceError('STORE_CLOSED', { node: this.name })
  }
}

function placeOf(time: number, key: Buffer): Buffer {
  const place = Buffer.allocUnsafe(INT64_BYTES + key.length)
  writeSafeInt64(place, time, 0)
  place.set(key, INT64_BYTES)
  return place
}

/** One character per byte. */
function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}
