const NONE = -1

/**
 * Results that were held back, and are let go by another record. One that fails, and is passed over by its policy, is left out
 * alone: what let it go is processed again without it, or it would fail with every record that follows. The results of one
 * record are told apart by their order, which is the same each time it is processed.
 */
export class Releases {
  readonly #leftOut = new Set<number>()
  /** The record whose results are left out. */
  #source: object | undefined
  #offset = NONE
  #count = 0
  /** The innermost one under way. */
  #current = NONE

  /** Starts a record, or another try of it; `source` and `offset` say which. */
  begin(source: object | undefined, offset: number): void {
    this.#count = 0
    this.#current = NONE
    if (this.#leftOut.size > 0 && (source !== this.#source || offset !== this.#offset)) this.#leftOut.clear()
  }

  /** Hands on one result, unless it is to be left out. */
  release(handOn: () => void): void {
    const number = this.#count
    this.#count += 1
    if (this.#leftOut.has(number)) return
    const outer = this.#current
    this.#current = number
    handOn()
    this.#current = outer
  }

  /** The number of the result whose failure has come up to the task, once; `undefined` for one that was none's. */
  takeFailed(): number | undefined {
    const failed = this.#current
    this.#current = NONE
    return failed === NONE ? undefined : failed
  }

  /** Forgets what was left out: what let it go is done. */
  forget(): void {
    if (this.#leftOut.size > 0) this.#leftOut.clear()
  }

  /** Leaves a result out when the record is tried again. */
  leaveOut(number: number, source: object | undefined, offset: number): void {
    this.#source = source
    this.#offset = offset
    this.#leftOut.add(number)
  }
}
