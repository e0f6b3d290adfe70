import type { MillraceError } from '../model/errors.ts'
import { runCommitCycle, type CommitParts } from './commit-cycle.ts'
import type { CommitOutcome, CommitStrategy } from './commit-strategy.ts'
import type { InputRewinder } from './input-rewinder.ts'

/** Offsets, outputs and changelogs of an interval in one transaction. Kafka Streams: `exactly_once_v2`. */
export class ExactlyOnceStrategy implements CommitStrategy {
  readonly guarantee = 'exactly_once_v2'
  readonly #parts: CommitParts
  readonly #rewinder: InputRewinder

  constructor(parts: CommitParts, rewinder: InputRewinder) {
    this.#parts = parts
    this.#rewinder = rewinder
  }

  admit(): undefined {
    return undefined
  }

  commit(): Promise<CommitOutcome> {
    return runCommitCycle(this.#parts)
  }

  async abort(_cause: MillraceError): Promise<void> {
    await this.#parts.producer.abortTransaction(this.#parts.stepTimeoutMs())
    this.#rewinder.rewind(this.#parts.tasks())
  }
}
