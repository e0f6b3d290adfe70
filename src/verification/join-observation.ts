/** A stream joined with a table, as provenance tells it. */
export interface StreamTableJoin {
  readonly kind: 'streamTable'
  /** Committed records of the stream below C. */
  readonly stream: readonly { readonly id: string; readonly key: string }[]
  /** Committed versions of the table, per partition in order of offsets. */
  readonly table: readonly {
    readonly key: string
    readonly partition: number
    readonly offset: number
    readonly isDeletion: boolean
  }[]
  /** Results in the order in which each partition wrote them. */
  readonly results: readonly {
    /** Of the stream's record. */
    readonly id: string
    readonly partition: number
    /** Next offset of the table when it was joined. */
    readonly tablePosition: number
    /** Offset of the version that the result holds; `undefined` for a declared miss. */
    readonly version: number | undefined
  }[]
}

/** Two streams joined within a window of event time. */
export interface WindowJoin {
  readonly kind: 'window'
  readonly left: readonly { readonly id: string; readonly key: string; readonly timestamp: number }[]
  readonly right: readonly { readonly id: string; readonly key: string; readonly timestamp: number }[]
  /** How much earlier than the left record the right one may be, in ms. */
  readonly beforeMs: number
  /** How much later, in ms. */
  readonly afterMs: number
  readonly pairs: readonly (readonly [left: string, right: string])[]
  /** Records that came too late; their pairs are free. */
  readonly late: readonly string[]
}

/** What a join was given and what it gave. */
export type JoinObservation = StreamTableJoin | WindowJoin
