import { stopError } from '../engine/record-failures.ts'
import type { RecordFailure, RecordReaction } from '../model/record-failure.ts'

/** Different failures that are told; of the others only their number is. */
const TOLD_MAX = 20

/** Counts the records that an error policy passed over, by what became of them and why. */
export class PassedOver {
  readonly #counts = new Map<string, number>()
  #untold = 0

  /** Takes one failed record; one that stops the task is told by its error. */
  add(failure: RecordFailure, reaction: RecordReaction): void {
    if (reaction === 'stop') return
    const { code, details, message } = stopError(failure, '')
    const text = `${reaction === 'skip' ? 'skipped' : 'dead-lettered'}: ${code} at ${failure.node}: ${details.what ?? message}`
    const count = this.#counts.get(text)
    if (count === undefined && this.#counts.size === TOLD_MAX) this.#untold += 1
    else this.#counts.set(text, (count ?? 0) + 1)
  }

  /** One line each, in the order in which they first failed. */
  lines(): readonly string[] {
    const lines = [...this.#counts].map(([text, count]) => `${records(count)} ${text}`)
    return this.#untold === 0 ? lines : [...lines, `${records(this.#untold)} passed over for other reasons`]
  }
}

function records(count: number): string {
  return count === 1 ? '1 record' : `${String(count)} records`
}
