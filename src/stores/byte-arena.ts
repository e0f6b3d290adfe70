import { InvariantError } from '../model/assert.ts'

/** Blocks are multiples of this, and begin at multiples of it. */
const UNIT_BYTES = 16
/** Each block starts with the length of what it holds. */
const LENGTH_BYTES = 4
const UNIT_SHIFT = 4
const SLAB_BYTES = 1_048_576
/** A reference is the number of a slab in its upper, and of a unit within it in its lower 16 bits: up to 32 GB. */
const SLAB_SHIFT = 16
const SLAB_UNITS = SLAB_BYTES / UNIT_BYTES
const UNIT_MASK = SLAB_UNITS - 1
/** Rounding of block sizes: at most an eighth is wasted, and freed blocks fit again. */
const STEPS_PER_DOUBLING = 8

/**
 * Byte strings in a few large buffers, with blocks freed and taken again. A store of a million entries would otherwise be
 * millions of small `Buffer` objects, each a burden on the garbage collector and most of them pinning a shared 8 KB pool.
 */
export class ByteArena {
  readonly #slabs: Buffer[] = []
  /** The same bytes, to be read as numbers. */
  readonly #views: DataView[] = []
  /** Freed blocks by their size in units. */
  readonly #free = new Map<number, number[]>()
  #slab = -1
  #usedUnits = SLAB_UNITS

  /** Stores a copy and returns where it lies. */
  add(bytes: Uint8Array): number {
    const units = unitsFor(bytes.length)
    const ref = this.#free.get(units)?.pop() ?? this.#take(units)
    const slab = this.#slabOf(ref)
    const at = (ref & UNIT_MASK) << UNIT_SHIFT
    slab.writeUInt32LE(bytes.length, at)
    slab.set(bytes, at + LENGTH_BYTES)
    return ref
  }

  /** A view of a stored byte string, valid until it is freed. */
  view(ref: number): Buffer {
    const slab = this.#slabOf(ref)
    const at = (ref & UNIT_MASK) << UNIT_SHIFT
    const length = slab.readUInt32LE(at)
    return slab.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + length)
  }

  /** Length of a stored byte string. */
  lengthOf(ref: number): number {
    return this.#viewOf(ref).getUint32((ref & UNIT_MASK) << UNIT_SHIFT, true)
  }

  /** Whether a stored byte string has exactly these bytes. */
  equals(ref: number, bytes: Uint8Array): boolean {
    const view = this.#viewOf(ref)
    let at = (ref & UNIT_MASK) << UNIT_SHIFT
    const length = bytes.length
    if (view.getUint32(at, true) !== length) return false
    at += LENGTH_BYTES
    const words = length & ~3
    // In place: for the short keys this compares, a call into the runtime costs more than the comparison.
    for (let i = 0; i < words; i += 4) {
      const word =
        (bytes[i] ?? 0) | ((bytes[i + 1] ?? 0) << 8) | ((bytes[i + 2] ?? 0) << 16) | ((bytes[i + 3] ?? 0) << 24)
      if (view.getInt32(at + i, true) !== word) return false
    }
    for (let i = words; i < length; i++) if (view.getUint8(at + i) !== bytes[i]) return false
    return true
  }

  /** Where a stored byte string stands beside another one: below 0 before it, 0 equal, above 0 after it. */
  compare(ref: number, bytes: Uint8Array): number {
    const slab = this.#slabOf(ref)
    const at = ((ref & UNIT_MASK) << UNIT_SHIFT) + LENGTH_BYTES
    const length = this.lengthOf(ref)
    const shorter = Math.min(length, bytes.length)
    for (let i = 0; i < shorter; i++) {
      const difference = (slab[at + i] ?? 0) - (bytes[i] ?? 0)
      if (difference !== 0) return difference
    }
    return length - bytes.length
  }

  /** The same for two stored ones. */
  compareStored(ref: number, other: number): number {
    const slab = this.#slabOf(ref)
    const at = ((ref & UNIT_MASK) << UNIT_SHIFT) + LENGTH_BYTES
    const otherSlab = this.#slabOf(other)
    const otherAt = ((other & UNIT_MASK) << UNIT_SHIFT) + LENGTH_BYTES
    const length = this.lengthOf(ref)
    const otherLength = this.lengthOf(other)
    const shorter = Math.min(length, otherLength)
    for (let i = 0; i < shorter; i++) {
      const difference = (slab[at + i] ?? 0) - (otherSlab[otherAt + i] ?? 0)
      if (difference !== 0) return difference
    }
    return length - otherLength
  }

  /** Four bytes of a stored byte string from `at` on, the first one highest; 0 for those behind its end. */
  wordAt(ref: number, at: number): number {
    const slab = this.#slabOf(ref)
    const length = this.lengthOf(ref)
    const from = ((ref & UNIT_MASK) << UNIT_SHIFT) + LENGTH_BYTES
    let word = 0
    for (let i = at; i < at + 4; i++) word = (word << 8) | (i < length ? (slab[from + i] ?? 0) : 0)
    return word >>> 0
  }

  /** Gives a block back. */
  free(ref: number): void {
    const units = unitsFor(this.lengthOf(ref))
    const freed = this.#free.get(units)
    if (freed === undefined) this.#free.set(units, [ref])
    else freed.push(ref)
  }

  /** Forgets everything. */
  clear(): void {
    this.#slabs.length = 0
    this.#views.length = 0
    this.#free.clear()
    this.#slab = -1
    this.#usedUnits = SLAB_UNITS
  }

  #take(units: number): number {
    if (units > SLAB_UNITS) {
      // Larger than a slab: one of its own. References inside it are never taken, so only its first unit needs a number.
      this.#addSlab(units * UNIT_BYTES)
      return (this.#slabs.length - 1) << SLAB_SHIFT
    }
    if (this.#usedUnits + units > SLAB_UNITS) {
      this.#addSlab(SLAB_BYTES)
      this.#slab = this.#slabs.length - 1
      this.#usedUnits = 0
    }
    const ref = (this.#slab << SLAB_SHIFT) | this.#usedUnits
    this.#usedUnits += units
    return ref
  }

  #addSlab(bytes: number): void {
    const slab = Buffer.allocUnsafeSlow(bytes)
    this.#slabs.push(slab)
    this.#views.push(new DataView(slab.buffer))
  }

  #viewOf(ref: number): DataView {
    const view = this.#views[ref >>> SLAB_SHIFT]
    if (view === undefined) throw new InvariantError('a reference lies in its arena')
    return view
  }

  #slabOf(ref: number): Buffer {
    const slab = this.#slabs[ref >>> SLAB_SHIFT]
    if (slab === undefined) throw new InvariantError('a reference lies in its arena')
    return slab
  }
}

/** Units of a block for so many bytes, rounded up to one of eight sizes per doubling. */
function unitsFor(bytes: number): number {
  const units = Math.ceil((bytes + LENGTH_BYTES) / UNIT_BYTES)
  if (units <= STEPS_PER_DOUBLING) return units
  const step = 2 ** (31 - Math.clz32(units)) / STEPS_PER_DOUBLING
  return Math.ceil(units / step) * step
}
