/** One addition that an input record stands for. */
export interface Addition {
  readonly id: bigint
  readonly amount: bigint
}

/** The additions of each key, in any order. */
export type ExpectedTotals = ReadonlyMap<string, readonly Addition[]>

/** A total as the application wrote it: how many, their sum, and the ids put together by exclusive or. */
export interface Total {
  readonly count: bigint
  readonly sum: bigint
  readonly xor: bigint
}

/** Every total of one key in the order of writing. */
export interface KeyTotals {
  readonly key: string
  readonly totals: readonly Total[]
}

/** What an independent model of the workload expects, and what the output says; neither goes through the operators. */
export interface TotalsObservation {
  readonly expected: ExpectedTotals
  readonly found: readonly KeyTotals[]
}
