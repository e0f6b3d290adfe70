import type { PostedError } from './posted-error.ts'

/** What every question names: a store, and the partitions of it to look at, in that order. Global tables have none. */
interface QuestionPlace {
  readonly store: string
  readonly partitions: readonly number[]
}

/**
 * A question about the committed state of one thread, as plain data that can be posted. Keys are bytes. What gives many rows
 * gives a page of them; the next question says where to go on.
 */
export type StateQuestion =
  | (QuestionPlace & { readonly kind: 'value'; readonly key: Uint8Array })
  | (QuestionPlace & { readonly kind: 'version'; readonly key: Uint8Array; readonly asOf: number | undefined })
  | (QuestionPlace & {
      readonly kind: 'range'
      readonly from: Uint8Array | undefined
      readonly to: Uint8Array | undefined
      /** Last key of the page before. */
      readonly after: Uint8Array | undefined
    })
  | (QuestionPlace & {
      /** Windows that start in `[from, to]`, or sessions that end at or after `from` and start at or before `to`. */
      readonly kind: 'windows' | 'sessions'
      readonly key: Uint8Array
      readonly from: number
      readonly to: number
      /** How many rows of the time `from` the pages before have given. */
      readonly skip: number
    })

/** One entry of a store. */
export interface StateRow {
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** Start of a window or session; since when a version holds. */
  readonly start: number
  /** End of a session; until when a version held, `undefined` for the latest. */
  readonly end: number | undefined
}

/** A page of rows, all of one partition and as of one commit. */
export interface StatePage {
  readonly rows: readonly StateRow[]
  /** The partition they are from; `undefined` for a global table, and without rows. */
  readonly partition: number | undefined
  /** Whether there may be more of them. */
  readonly more: boolean
  /** Partitions that could not be looked at: their tasks are not here, or not complete yet. */
  readonly absent: readonly number[]
}

/** What a thread answers. */
export type StateAnswer =
  { readonly type: 'page'; readonly page: StatePage } | { readonly type: 'failed'; readonly error: PostedError }
