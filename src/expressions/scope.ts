import { NO_HEADERS, type RecordHeaders } from '../model/headers.ts'
import type { KnownValue, StaticType } from './static-type.ts'

/** What an expression may know of a record beside key and value: the step's record context fits it. */
export interface RecordFacts {
  readonly timestamp: number
  readonly headers: RecordHeaders
  readonly metadata: { readonly topic: string; readonly partition: number; readonly offset: number } | undefined
}

/** Every variable an expression can name, with what is known of its type. */
export const VARIABLE_TYPES = {
  key: 'dyn',
  value: 'dyn',
  headers: 'headers',
  timestamp: 'number',
  topic: 'dyn',
  partition: 'dyn',
  offset: 'dyn',
  state: 'dyn',
  left: 'dyn',
  right: 'dyn',
  window: 'window',
  item: 'dyn',
  index: 'number',
} as const satisfies Readonly<Record<string, StaticType>>

/** Name of a variable. */
export type VariableName = keyof typeof VARIABLE_TYPES

/** What is known of the variables of a place beyond their types in general. */
export type KnownVariables = ReadonlyMap<VariableName, KnownValue>

const NO_RECORD: RecordFacts = { timestamp: 0, headers: NO_HEADERS, metadata: undefined }

/**
 * The variables of one evaluation. One object serves all records of a step: the caller sets what the expression reads,
 * then evaluates; nothing is allocated per record.
 */
export class ExpressionScope {
  key: unknown = null
  value: unknown = null
  state: unknown = null
  left: unknown = null
  right: unknown = null
  item: unknown = null
  index = 0
  window: { readonly start: number; readonly end: number } | undefined = undefined
  record: RecordFacts = NO_RECORD
  /** Variables of macros (`list.map(x, …)`), one slot per nesting level. */
  readonly locals: unknown[] = []
  /** Steps of macros left in this evaluation. */
  iterationsLeft = 0
}

/** Variables of a step on a record: those every step has. */
export const RECORD_VARIABLES: ReadonlySet<VariableName> = new Set([
  'key',
  'value',
  'headers',
  'timestamp',
  'topic',
  'partition',
  'offset',
])
