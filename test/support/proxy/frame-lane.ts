import type { Socket } from 'node:net'

/** One direction of one connection: frames leave in the order they came, however long one of them is kept. */
export class FrameLane {
  readonly #socket: Socket
  #tail: Promise<void> = Promise.resolve()
  #waiting = 0
  #blackHole = false

  /** @param socket - where the frames go */
  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Whether no frame waits. */
  get idle(): boolean {
    return this.#waiting === 0
  }

  /** Runs a frame's work after that of all frames before it. */
  push(work: () => Promise<void>, onFailure: (error: unknown) => void, onIdle: () => void): void {
    this.#waiting += 1
    this.#tail = this.#tail
      .then(async () => {
        if (!this.#blackHole) await work()
        return undefined
      })
      .catch(onFailure)
      .finally(() => {
        this.#waiting -= 1
        if (this.#waiting === 0) onIdle()
      })
  }

  /** From here on nothing goes through. */
  swallow(): void {
    this.#blackHole = true
  }

  /** Writes a frame with its length, at once or in pieces. */
  async write(frame: Buffer, pieces?: { readonly bytes: number; readonly gapMs: number }): Promise<void> {
    const bytes = Buffer.allocUnsafe(4 + frame.length)
    bytes.writeInt32BE(frame.length, 0)
    frame.copy(bytes, 4)
    if (pieces === undefined) {
      if (!this.#socket.destroyed) this.#socket.write(bytes)
      return
    }
    for (let at = 0; at < bytes.length && !this.#socket.destroyed; at += pieces.bytes) {
      this.#socket.write(bytes.subarray(at, at + pieces.bytes))
      await new Promise(resolve => setTimeout(resolve, pieces.gapMs))
    }
  }
}
