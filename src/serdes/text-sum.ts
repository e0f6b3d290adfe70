import type { TextInPlace } from './text-in-place.ts'

/** A loop writes shorter texts faster than a call into the runtime. */
const LOOP_CHARACTERS_MAX = 48
const BEYOND_ASCII = 0x8080_8080

/**
 * Texts one behind the other that are only going to be written, at once, in place of the string that they make: those that are
 * still bytes of the record are copied as such. One for all records of a step.
 */
export class TextSum {
  readonly parts: (string | TextInPlace)[]

  /** @param count - of the parts */
  constructor(count: number) {
    this.parts = Array.from({ length: count }, () => '')
  }

  /** Writes all of it to the beginning of `target`, a view of which is `view`; −1 where it does not fit, or is not ASCII alone. */
  writeAscii(target: Buffer, view: DataView): number {
    let at = 0
    for (const part of this.parts) {
      if (part.length > target.length - at) return -1
      at = typeof part === 'string' ? writeText(part, target, at) : copyAscii(part, target, view, at)
      if (at < 0) return -1
    }
    return at
  }

  toString(): string {
    return this.parts.join('')
  }
}

function writeText(text: string, target: Buffer, start: number): number {
  const { length } = text
  if (length > LOOP_CHARACTERS_MAX) return target.write(text, start, 'utf8') === length ? start + length : -1
  let all = 0
  for (let index = 0; index < length; index += 1) {
    const unit = text.charCodeAt(index)
    all |= unit
    target[start + index] = unit
  }
  return all < 0x80 ? start + length : -1
}

function copyAscii(
  { view: from, at: first, length }: TextInPlace,
  target: Buffer,
  to: DataView,
  start: number,
): number {
  const words = length & ~3
  let all = 0
  for (let index = 0; index < words; index += 4) {
    const word = from.getInt32(first + index, true)
    all |= word
    to.setInt32(start + index, word, true)
  }
  for (let index = words; index < length; index += 1) {
    const byte = from.getUint8(first + index)
    all |= byte
    target[start + index] = byte
  }
  return (all & BEYOND_ASCII) === 0 ? start + length : -1
}
