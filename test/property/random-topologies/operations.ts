/** Windows of an aggregation; times in ms. */
export type Windows =
  | { readonly type: 'tumbling'; readonly size: number; readonly grace: number }
  | { readonly type: 'hopping'; readonly size: number; readonly every: number; readonly grace: number }
  | { readonly type: 'sliding'; readonly difference: number; readonly grace: number }
  | { readonly type: 'session'; readonly gap: number; readonly grace: number }

export type JoinKind = 'inner' | 'left' | 'outer'
export type FoldKind = 'count' | 'reduce' | 'aggregate'

/** What values of a stream are written as. */
export type ValueType = 'text' | 'long' | 'integer' | 'double' | 'boolean' | 'bytes' | 'json'

/** What one operator does. `fn` chooses among the user's functions (`user-functions.ts`). */
export type Operation =
  | {
      readonly kind: 'filter' | 'filterNot' | 'mapValues' | 'flatMapValues' | 'map' | 'flatMap' | 'selectKey'
      readonly fn: number
    }
  | { readonly kind: 'merge' | 'repartition' }
  | { readonly kind: 'convert'; readonly type: ValueType }
  | { readonly kind: 'split'; readonly fn: number; readonly taken: 'first' | 'rest' }
  | { readonly kind: 'toTable'; readonly history: number | null }
  | { readonly kind: 'dedupe'; readonly fn: number; readonly within: number }
  | {
      readonly kind: 'process'
      readonly keepsKey: boolean
      /** How often it tells its numbers, in ms, and by which clock; never where it keeps keys. */
      readonly every: number | null
      readonly by: 'streamTime' | 'wallClock'
    }
  | {
      readonly kind: 'streamJoin'
      readonly join: JoinKind
      readonly before: number
      readonly after: number
      readonly grace: number
    }
  | { readonly kind: 'streamTableJoin'; readonly isLeft: boolean; readonly grace: number | null }
  | { readonly kind: 'globalTableJoin'; readonly isLeft: boolean; readonly fn: number }
  | { readonly kind: 'aggregate'; readonly by: number | null; readonly fold: FoldKind; readonly history: number | null }
  | {
      readonly kind: 'windowed'
      readonly by: number | null
      readonly fold: FoldKind
      readonly windows: Windows
      readonly emit: 'updates' | 'final'
      /** Whether late records go to a topic. */
      readonly keepsLate: boolean
    }
  | { readonly kind: 'cogroup'; readonly windows: Windows | null }
  | {
      readonly kind: 'tableFilter' | 'tableFilterNot' | 'tableMapValues' | 'tableTransformValues'
      readonly fn: number
      readonly isStored: boolean
    }
  | { readonly kind: 'tableGroup'; readonly fn: number; readonly fold: FoldKind }
  | {
      readonly kind: 'suppress'
      readonly until: number | 'windowCloses'
      readonly maxRecords: number | null
      readonly maxBytes: number | null
      readonly whenFull: 'emit' | 'stop'
    }
  | { readonly kind: 'tableJoin'; readonly join: JoinKind; readonly isStored: boolean }
  | { readonly kind: 'foreignKeyJoin'; readonly isLeft: boolean; readonly fn: number }

/** What is done to one table or two. */
export type TableOperation = Extract<
  Operation,
  {
    readonly kind:
      | 'tableFilter'
      | 'tableFilterNot'
      | 'tableMapValues'
      | 'tableTransformValues'
      | 'tableGroup'
      | 'suppress'
      | 'tableJoin'
      | 'foreignKeyJoin'
  }
>

/** A stream joined with something. */
export type StreamJoinOperation = Extract<
  Operation,
  { readonly kind: 'streamJoin' | 'streamTableJoin' | 'globalTableJoin' }
>

/** An operator of a random topology. Inputs are picked by number among what fits, so that any list of operators is a topology. */
export interface Operator {
  readonly operation: Operation
  /** Which of the streams or tables that fit is its input, the newest result first, then the sources. */
  readonly input: number
  readonly other: number
  /** Whether its result is written to a topic although another operator takes it. */
  readonly isWritten: boolean
}
