/**
 * What the engine does about an error: `retry` inside the call, `abort` the transaction and reprocess, `refence` with a
 * new producer epoch first, `rejoin` the group with nothing owned, route the record to the `deadLetter` topic, `stop`.
 */
export type Reaction = 'retry' | 'abort' | 'refence' | 'rejoin' | 'deadLetter' | 'stop'

/** One row of the table `docs/errors.md` is generated from. */
export interface ErrorDefinition {
  readonly reaction: Reaction
  /** Exit code of the service when this error ends it. */
  readonly exitCode: 65 | 69 | 70 | 75 | 77 | 78
  /** What happened, in general. */
  readonly cause: string
  /** What follows in words, of an error that only the caller of the library gets: nothing stops then. */
  readonly effect?: string
  /** What the operator can do. */
  readonly operator: string
}
