import type { Clock } from '../model/clock.ts'
import type { CommandIo } from './command-io.ts'

const TERMINAL_MS = 100
const QUIET_MS = 5_000

/** Tells of long work: on a terminal one line that is drawn over itself, elsewhere a line now and then. */
export class ProgressLine {
  readonly #io: CommandIo
  readonly #clock: Pick<Clock, 'nowMs'>
  #lastMs: number
  #isDrawn = false

  constructor(io: CommandIo, clock: Pick<Clock, 'nowMs'>) {
    this.#io = io
    this.#clock = clock
    this.#lastMs = clock.nowMs()
  }

  show(doing: string): void {
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#lastMs < (this.#io.terminal ? TERMINAL_MS : QUIET_MS)) return
    this.#lastMs = nowMs
    if (!this.#io.terminal) {
      this.#io.err(doing)
      return
    }
    // Up one line and clear it: `err` ends each text with a line break.
    this.#io.err(`${this.#isDrawn ? '\u001B[1A\u001B[2K' : ''}${doing}`)
    this.#isDrawn = true
  }

  /** Takes the line away. */
  end(): void {
    if (this.#isDrawn) this.#io.err('\u001B[1A\u001B[2K\u001B[1A')
    this.#isDrawn = false
  }
}
