import type { Deadline } from '../cluster/deadline.ts'
import type { ProducerIdentity } from './producer-identity.ts'
import type { ProducerSession } from './producer-session.ts'
import type { ProducerStamp } from './send-gate.ts'
import { spokenVersions } from './transaction-versions.ts'

/** A producer with an id but no transactions: no batch is written twice, but nothing can be taken back. */
export class IdempotentSession implements ProducerSession {
  readonly #identity: ProducerIdentity
  readonly provesFirstSequence = false
  // A later version would be a sign of protocol 2 to the broker; without a transaction there is nothing to gain by it.
  readonly produceVersions = spokenVersions(1, 'Produce')

  constructor(identity: ProducerIdentity) {
    this.#identity = identity
  }

  get state(): 'idle' | 'uninitialized' {
    return this.#identity.isKnown ? 'idle' : 'uninitialized'
  }

  get stamp(): ProducerStamp {
    return this.#identity.stamp
  }

  admits(): boolean {
    return this.#identity.isKnown
  }

  expects(): void {
    // The producer id is there before the first record.
  }

  initialize(deadline: Deadline): Promise<void> {
    return this.#identity.acquire(deadline)
  }

  noteUnsure(): void {
    // The same batch sent again is recognised by its sequence; a forgotten one is a gap.
  }

  noteFailure(): void {
    // Forgetting the batch leaves a gap, and that asks for a new id.
  }

  async abort(deadline: Deadline, gap: boolean): Promise<void> {
    // A new id rather than the next sequence: the broker would refuse everything behind the gap.
    if (gap) await this.#identity.acquire(deadline)
  }
}
