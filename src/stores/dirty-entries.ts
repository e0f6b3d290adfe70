import { javaByteOrder, javaSlots } from './java-hash-order.ts'

const ENTRIES_MIN = 32

/**
 * Entries that changed since the changelog heard of them last, each once, in the order of their first change. Kafka Streams:
 * `dirtyKeys`, a hash set, of `InMemoryTimeOrderedKeyValueChangeBuffer`.
 */
export class DirtyEntries {
  #list: number[] = []
  #marks = new Uint8Array(ENTRIES_MIN)
  #slots = javaSlots(0)
  #savedLength = 0
  #savedSlots = this.#slots
  #committedSlots = this.#slots

  add(entry: number): void {
    if (this.has(entry)) return
    if (entry >= this.#marks.length) {
      const marks = new Uint8Array(Math.max(entry + 1, this.#marks.length * 2))
      marks.set(this.#marks)
      this.#marks = marks
    }
    this.#marks[entry] = 1
    this.#list.push(entry)
    this.#slots = javaSlots(this.#list.length, this.#slots)
  }

  has(entry: number): boolean {
    return this.#marks[entry] === 1
  }

  /** The entries in the order in which the JVM goes through them. */
  inJavaOrder(keyOf: (entry: number) => Uint8Array): readonly number[] {
    const list = this.#list
    return javaByteOrder(list.length, number => keyOf(list[number] ?? -1), this.#slots).map(
      number => list[number] ?? -1,
    )
  }

  /** Hands out all of them and forgets them. */
  take(): readonly number[] {
    const taken = this.#list
    for (const entry of taken) this.#marks[entry] = 0
    this.#list = []
    return taken
  }

  endRecord(): void {
    this.#savedLength = this.#list.length
    this.#savedSlots = this.#slots
  }

  rollbackRecord(): void {
    this.#forget(this.#savedLength)
    this.#slots = this.#savedSlots
  }

  commit(): void {
    this.#committedSlots = this.#slots
  }

  abort(): void {
    this.#forget(0)
    this.#slots = this.#committedSlots
    this.endRecord()
  }

  /** Forgets those behind the first `kept`. */
  #forget(kept: number): void {
    for (let at = kept; at < this.#list.length; at++) this.#marks[this.#list[at] ?? 0] = 0
    this.#list.length = Math.min(this.#list.length, kept)
  }
}
