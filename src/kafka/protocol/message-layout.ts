import { assert } from '../../model/assert.ts'
import { inRange, type FieldSchema, type FieldType, type MessageSchema } from './schema.ts'

/** One field as one version writes it. */
export interface FieldLayout {
  readonly name: string
  readonly type: FieldType
  readonly isArray: boolean
  readonly isNullable: boolean
  readonly tag: number
  /** The field over all versions; its default is of use here. */
  readonly schema: FieldSchema
  /** Layout of a structure. */
  readonly struct: StructLayout | undefined
}

/** A structure, or a whole message, as one version writes it. */
export interface StructLayout {
  readonly isFlexible: boolean
  /** In the order of the wire. */
  readonly plain: readonly FieldLayout[]
  /** By rising tag. */
  readonly tagged: readonly FieldLayout[]
  readonly taggedByTag: ReadonlyMap<number, FieldLayout>
  /** Fields of other versions. */
  readonly absent: readonly FieldSchema[]
}

/** The layout of one version of a message. */
export function layoutOf(schema: MessageSchema, version: number): StructLayout {
  assert(inRange(schema.versions, version), 'the version exists', { message: schema.name, version })
  const isFlexible = schema.flexibleFrom >= 0 && version >= schema.flexibleFrom
  return structLayout(schema.fields, version, isFlexible)
}

function structLayout(fields: readonly FieldSchema[], version: number, isFlexible: boolean): StructLayout {
  const plain: FieldLayout[] = []
  const tagged: FieldLayout[] = []
  const absent: FieldSchema[] = []
  for (const field of fields) {
    if (!inRange(field.versions, version)) absent.push(field)
    else if (isFlexible && inRange(field.tagged, version)) tagged.push(fieldLayout(field, version, isFlexible))
    else plain.push(fieldLayout(field, version, isFlexible))
  }
  tagged.sort((a, b) => a.tag - b.tag)
  return { isFlexible, plain, tagged, taggedByTag: new Map(tagged.map(field => [field.tag, field])), absent }
}

function fieldLayout(schema: FieldSchema, version: number, isFlexible: boolean): FieldLayout {
  return {
    name: schema.name,
    type: schema.type,
    isArray: schema.array === true,
    isNullable: inRange(schema.nullable, version),
    tag: schema.tag ?? -1,
    schema,
    struct: schema.fields === undefined ? undefined : structLayout(schema.fields, version, isFlexible),
  }
}

const NO_UUID = Buffer.alloc(16)
const NO_BYTES = Buffer.alloc(0)

/** The value of an absent field, as Kafka's generated classes have it. */
export function defaultOf(schema: FieldSchema): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema.array === true) return []
  switch (schema.type) {
    case 'bool':
      return false
    case 'string':
      return ''
    case 'uuid':
      return Buffer.from(NO_UUID)
    case 'bytes':
    case 'records':
      return NO_BYTES
    case 'struct':
      return Object.fromEntries((schema.fields ?? []).map(field => [field.name, defaultOf(field)]))
    case 'int8':
    case 'int16':
    case 'uint16':
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'float64':
      return 0
  }
}

/** Whether a value is its field's default, so that a tagged field is left out. */
export function isDefault(schema: FieldSchema, value: unknown): boolean {
  if (value === undefined) return true
  if (schema.default !== undefined) return sameScalar(value, schema.default)
  if (schema.array === true) return Array.isArray(value) && value.length === 0
  switch (schema.type) {
    case 'uuid':
      return value instanceof Uint8Array && NO_UUID.equals(value)
    case 'bytes':
    case 'records':
      return value instanceof Uint8Array && value.length === 0
    case 'struct':
      return isFields(value) && (schema.fields ?? []).every(field => isDefault(field, value[field.name]))
    case 'bool':
    case 'string':
    case 'int8':
    case 'int16':
    case 'uint16':
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'float64':
      return sameScalar(value, defaultOf(schema))
  }
}

/** Equal, where an int64 may be a number on one side and a bigint on the other. */
function sameScalar(a: unknown, b: unknown): boolean {
  if (typeof a === 'bigint' && typeof b === 'number') return a === BigInt(b)
  return a === b
}

/** Whether a value can hold the fields of a structure. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
}
