import { isTimeSpan, isTimestamp } from './time-values.ts'

/** What is known of a value before any record is seen; `dyn` = nothing. All numbers are one type. */
export type StaticType =
  | 'dyn'
  | 'number'
  | 'string'
  | 'bool'
  | 'null'
  | 'bytes'
  | 'list'
  | 'map'
  | 'timestamp'
  | 'duration'
  | 'headers'
  | 'window'

/** What is known of a value before any record is seen. */
export interface KnownValue {
  readonly type: StaticType
  /** The fields of an object that a template makes: it never has others. `undefined` = it may have any. */
  readonly fields?: ReadonlyMap<string, KnownValue> | undefined
  /** Where the type comes from and what can be done about it, for messages. */
  readonly hint?: string | undefined
}

/** A value nothing is known of. */
export const UNKNOWN: KnownValue = { type: 'dyn' }

/** The type of a value as messages name it. */
export function typeNameOf(value: unknown): string {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 'number'
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'undefined':
      return 'nothing'
    case 'object':
      return objectTypeName(value)
    case 'function':
    case 'symbol':
      return 'function'
    default:
      return 'unknown'
  }
}

function objectTypeName(value: object | null): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (value instanceof Uint8Array) return 'bytes'
  if (isTimestamp(value)) return 'timestamp'
  return isTimeSpan(value) ? 'duration' : 'map'
}

/** Whether the value is an object with named fields: not null, no list, no bytes, no time. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeNameOf(value) === 'map'
}

/** Whether a value of one static type may turn out to be of another: `dyn` may be anything. */
export function mayBe(type: StaticType, ...wanted: readonly StaticType[]): boolean {
  return type === 'dyn' || wanted.includes(type)
}
