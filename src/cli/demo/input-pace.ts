import type { Clock } from '../../model/clock.ts'

/** Part of the input for the planned lives; the rest is for lives that come on top. */
const PLANNED_SHARE = 0.85
/** Of what is left, an unplanned life takes this part: however many there are, some input is left. */
const UNPLANNED_SHARE = 0.15
/** Part of a life's input that is there when it starts: something to recover with. */
const BACKLOG_SHARE = 0.25
/** Time over which a life's other input is spread, once it is at work. */
const LIFE_MS = 1_800

/**
 * How much of the input may be written by now. Each life of the application has its part: a quarter while it starts, the
 * rest while it is at work, so that kills meet work. Everything, once no kill is left.
 */
export class InputPace {
  readonly #clock: Clock
  readonly #records: number
  readonly #planned: number
  #life = 0
  /** What earlier lives were given, and what this one is given. */
  #before = 0
  #part = 0
  #atWorkSinceMs: number | undefined
  /** Records that were written before this life began. */
  #writtenBefore: number | undefined
  #unlimited = false

  constructor(clock: Clock, records: number, plannedLives: number) {
    this.#clock = clock
    this.#records = records
    this.#planned = plannedLives
  }

  /** The next life begins. */
  nextLife(): void {
    this.#life += 1
    this.#before += this.#part
    this.#part =
      this.#life <= this.#planned
        ? (this.#records * PLANNED_SHARE) / this.#planned
        : (this.#records - this.#before) * UNPLANNED_SHARE
    this.#atWorkSinceMs = undefined
    this.#writtenBefore = undefined
  }

  /** This life has recovered. */
  atWork(): void {
    this.#atWorkSinceMs = this.#clock.nowMs()
  }

  /** No kill is left: the rest may be written at once. */
  release(): void {
    this.#unlimited = true
  }

  /**
   * Whether another transaction may begin, of which that many records were committed so far. Each life gets one at least:
   * a life that finds nothing to read would never be at work.
   */
  mayWrite(written: number): boolean {
    this.#writtenBefore ??= written
    return this.#unlimited || written === this.#writtenBefore || written < this.#allowed()
  }

  #allowed(): number {
    const ageMs = this.#atWorkSinceMs === undefined ? 0 : this.#clock.nowMs() - this.#atWorkSinceMs
    const share = BACKLOG_SHARE + (1 - BACKLOG_SHARE) * Math.min(1, ageMs / LIFE_MS)
    return this.#before + this.#part * share
  }
}
