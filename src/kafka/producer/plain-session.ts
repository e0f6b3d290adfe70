import type { ProducerSession } from './producer-session.ts'
import { spokenVersions } from './transaction-versions.ts'

/** A producer without id: nothing is sent twice, nothing is numbered. */
export class PlainSession implements ProducerSession {
  readonly state = 'idle'
  readonly stamp = null
  readonly provesFirstSequence = false
  readonly produceVersions = spokenVersions(1, 'Produce')

  admits(): boolean {
    return true
  }

  expects(): void {
    // Every partition may be sent to.
  }

  initialize(): Promise<void> {
    return Promise.resolve()
  }

  noteUnsure(): void {
    // Nothing that could be confused with it comes later.
  }

  noteFailure(): void {
    // A failed batch is dropped and counted; the next one does not depend on it.
  }

  abort(): Promise<void> {
    return Promise.resolve()
  }
}
