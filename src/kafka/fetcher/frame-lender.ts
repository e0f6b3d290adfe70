import type { FrameSource } from '../connection/request-pipeline.ts'

/** Below this a new buffer costs less than the trouble. */
const FRAME_BYTES_MIN = 65_536
/** So that answers of nearly the same size use the same memory. */
const ROUNDING_BYTES = 262_144
/** One is being read, one waits behind it, one is being received. */
const KEPT_MAX = 3
const KEPT_BYTES_MAX = 16 * 1_048_576

/**
 * Lends the memory of large answers, again and again: a buffer for each would be megabytes of garbage per second, and the
 * collector would run for their sake alone. For one connection with one request out at a time.
 */
export class FrameLender implements FrameSource {
  readonly #free: Buffer[] = []
  #taken: Buffer | undefined

  take(length: number): Buffer | undefined {
    this.#taken = undefined
    if (length < FRAME_BYTES_MIN) return undefined
    const fitting = this.#free.findIndex(frame => frame.length >= length)
    const [frame] =
      fitting === -1
        ? [Buffer.allocUnsafeSlow(Math.ceil(length / ROUNDING_BYTES) * ROUNDING_BYTES)]
        : this.#free.splice(fitting, 1)
    this.#taken = frame
    return frame?.subarray(0, length)
  }

  /** The loan of the answer that has come, held once; `undefined` when its memory is nobody's. */
  lend(): FrameLoan | undefined {
    const frame = this.#taken
    this.#taken = undefined
    return frame === undefined ? undefined : new FrameLoan(() => this.#giveBack(frame))
  }

  #giveBack(frame: Buffer): void {
    const kept = this.#free.reduce((bytes, { length }) => bytes + length, frame.length)
    if (this.#free.length < KEPT_MAX && kept <= KEPT_BYTES_MAX) this.#free.push(frame)
  }
}

/** The memory of one answer, which several blocks lie in. A holder that does not release it keeps it for good. */
export class FrameLoan {
  readonly #giveBack: () => void
  #holders = 1

  constructor(giveBack: () => void) {
    this.#giveBack = giveBack
  }

  hold(): void {
    this.#holders += 1
  }

  /** Nothing of the holder's part is looked at any more. */
  release(): void {
    this.#holders -= 1
    if (this.#holders === 0) this.#giveBack()
  }
}
