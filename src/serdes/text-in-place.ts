import { textWithin } from './text.ts'

const NO_BYTES = Buffer.alloc(0)
const NO_VIEW = new DataView(new ArrayBuffer(0))

/**
 * A text that is still the bytes of its record, in place of the string: for steps that do nothing with it but put it beside
 * other texts. One per queue, good until the record is done with.
 */
export class TextInPlace {
  /** The bytes it is among, and a view of the same. */
  batch: Buffer = NO_BYTES
  view: DataView = NO_VIEW
  at = 0
  /** Its own bytes. */
  length = 0

  lieAt(batch: Buffer, view: DataView, at: number, length: number): void {
    this.batch = batch
    this.view = view
    this.at = at
    this.length = length
  }

  /** Lets the bytes go. */
  release(): void {
    this.lieAt(NO_BYTES, NO_VIEW, 0, 0)
  }

  toString(): string {
    return textWithin(this.batch, this.view, this.at, this.length)
  }
}
