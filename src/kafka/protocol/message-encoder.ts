import { assert, InvariantError } from '../../model/assert.ts'
import { defaultOf, isDefault, isFields, type FieldLayout, type StructLayout } from './message-layout.ts'
import { WireWriter } from './wire-writer.ts'

/**
 * Writes a structure: its fields, then its tagged fields.
 *
 * @throws InvariantError for a value of the wrong type, or one that this version cannot carry and must not lose
 */
export function writeStruct(writer: WireWriter, layout: StructLayout, value: unknown): void {
  assert(isFields(value), 'a structure is an object', { value: typeof value })
  for (const field of layout.absent) {
    const lost = field.ignorable !== true && !isDefault(field, value[field.name])
    assert(!lost, 'a field that must not be lost exists in the version', { field: field.name })
  }
  for (const field of layout.plain) writeField(writer, field, layout.isFlexible, value[field.name])
  if (layout.isFlexible) writeTagged(writer, layout, value)
}

/** Fields with their default value are left out, as Kafka does. */
function writeTagged(writer: WireWriter, layout: StructLayout, value: Readonly<Record<string, unknown>>): void {
  const present = layout.tagged.filter(field => !isDefault(field.schema, value[field.name]))
  writer.unsignedVarint(present.length)
  for (const field of present) {
    const content = new WireWriter()
    writeField(content, field, true, value[field.name])
    writer.unsignedVarint(field.tag)
    writer.unsignedVarint(content.bytes)
    writer.raw(content.finish())
  }
}

function writeField(writer: WireWriter, field: FieldLayout, compact: boolean, given: unknown): void {
  const value = given === undefined ? defaultOf(field.schema) : given
  if (value === null) assert(field.isNullable, 'a null is allowed in the version', { field: field.name })
  if (!field.isArray) {
    writeElement(writer, field, compact, value)
    return
  }
  if (value === null) {
    writer.arrayLength(-1, compact)
    return
  }
  if (!Array.isArray(value)) throw new InvariantError('an array field has an array', { field: field.name })
  const elements: readonly unknown[] = value
  writer.arrayLength(elements.length, compact)
  for (const element of elements) writeElement(writer, field, compact, element)
}

function writeElement(writer: WireWriter, field: FieldLayout, compact: boolean, value: unknown): void {
  switch (field.type) {
    case 'string':
      if (value !== null && typeof value !== 'string') wrongType(field, value)
      writer.string(value, compact)
      return
    case 'bytes':
    case 'records':
      if (value !== null && !(value instanceof Uint8Array)) wrongType(field, value)
      writer.bytesField(value, compact)
      return
    case 'uuid':
      if (!(value instanceof Uint8Array) || value.length !== 16) wrongType(field, value)
      writer.raw(value)
      return
    case 'bool':
      if (typeof value !== 'boolean') wrongType(field, value)
      writer.bool(value)
      return
    case 'struct':
      writeStructElement(writer, field, value)
      return
    case 'int64':
      if (typeof value !== 'number' && typeof value !== 'bigint') wrongType(field, value)
      writer.int64(value)
      return
    case 'int8':
    case 'int16':
    case 'uint16':
    case 'int32':
    case 'uint32':
    case 'float64':
      if (typeof value !== 'number') wrongType(field, value)
      writer[field.type](value)
      return
  }
}

/** A structure that may be null has a byte before it: −1 null, 1 present. */
function writeStructElement(writer: WireWriter, field: FieldLayout, value: unknown): void {
  if (field.isNullable && !field.isArray) {
    writer.int8(value === null ? -1 : 1)
    if (value === null) return
  }
  if (field.struct === undefined) wrongType(field, value)
  writeStruct(writer, field.struct, value)
}

function wrongType(field: FieldLayout, value: unknown): never {
  throw new InvariantError('a field has a value of its type', {
    field: field.name,
    type: field.type,
    value: typeof value,
  })
}
