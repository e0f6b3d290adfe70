/** Types of fields, as the JSON schemas of Kafka's messages name them; `struct` stands for any named structure. */
export type FieldType =
  | 'bool'
  | 'int8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'float64'
  | 'uuid'
  | 'string'
  | 'bytes'
  | 'records'
  | 'struct'

/** First and last version, both included. */
export type VersionRange = readonly [first: number, last: number]

/** One field of a message or of a structure inside it, over all versions. */
export interface FieldSchema {
  /** The schema's name in camelCase. */
  readonly name: string
  readonly type: FieldType
  /** Whether it is an array of `type`. */
  readonly array?: true
  readonly versions: VersionRange
  /** Versions in which it may be null. */
  readonly nullable?: VersionRange
  /** Tag of an optional field of flexible versions (KIP-482). */
  readonly tag?: number
  /** Versions in which it is written as a tagged field. */
  readonly tagged?: VersionRange
  /** Its value when absent, where that is not the type's zero (0, false, empty). */
  readonly default?: number | bigint | string | boolean | null
  /** Whether a value may be dropped silently in a version that lacks the field. */
  readonly ignorable?: true
  /** The fields of a structure. */
  readonly fields?: readonly FieldSchema[]
}

/** One request, response or embedded message over all its versions. */
export interface MessageSchema {
  /** Kafka's name, such as `FetchRequest`. */
  readonly name: string
  readonly versions: VersionRange
  /** First version with compact lengths and tagged fields (KIP-482); -1 when there is none. */
  readonly flexibleFrom: number
  readonly fields: readonly FieldSchema[]
}

/** Whether a version lies in a range. */
export function inRange(range: VersionRange | undefined, version: number): boolean {
  return range !== undefined && version >= range[0] && version <= range[1]
}
