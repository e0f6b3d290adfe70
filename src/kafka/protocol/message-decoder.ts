import { defaultOf, type FieldLayout, type StructLayout } from './message-layout.ts'
import type { WireReader } from './wire-reader.ts'

/**
 * Reads a structure: its fields in the schema's form, defaults for those the version lacks; unknown tags are skipped.
 *
 * @throws PROTOCOL_VIOLATION
 */
export function readStruct(reader: WireReader, layout: StructLayout): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const field of layout.plain) value[field.name] = readField(reader, field, layout.isFlexible)
  for (const field of layout.tagged) value[field.name] = absentValue(reader, field.schema)
  for (const field of layout.absent) value[field.name] = absentValue(reader, field)
  if (layout.isFlexible) readTagged(reader, layout, value)
  return value
}

function readTagged(reader: WireReader, layout: StructLayout, value: Record<string, unknown>): void {
  let previous = -1
  for (let left = reader.unsignedVarint(); left > 0; left -= 1) {
    const tag = reader.unsignedVarint()
    if (tag <= previous) reader.fail(`tag ${String(tag)} after tag ${String(previous)}`)
    previous = tag
    const bytes = reader.unsignedVarint()
    const field = layout.taggedByTag.get(tag)
    if (field === undefined) {
      reader.raw(bytes)
      continue
    }
    const end = reader.position + bytes
    value[field.name] = readField(reader, field, true)
    if (reader.position !== end) reader.fail(`a tagged field ${field.name} of another length than it says`)
  }
}

function readField(reader: WireReader, field: FieldLayout, compact: boolean): unknown {
  if (!field.isArray) return readElement(reader, field, compact)
  const length = reader.arrayLength(compact)
  if (length < 0) return nullOf(reader, field)
  const elements: unknown[] = []
  for (let index = 0; index < length; index += 1) elements.push(readElement(reader, field, compact))
  return elements
}

function readElement(reader: WireReader, field: FieldLayout, compact: boolean): unknown {
  switch (field.type) {
    case 'string':
      return reader.string(compact) ?? nullOf(reader, field)
    case 'bytes':
    case 'records':
      return reader.bytesField(compact) ?? nullOf(reader, field)
    case 'uuid':
      return reader.raw(16)
    case 'struct':
      return readStructElement(reader, field)
    case 'bool':
    case 'int8':
    case 'int16':
    case 'uint16':
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'float64':
      return reader[field.type]()
  }
}

function readStructElement(reader: WireReader, field: FieldLayout): unknown {
  if (field.isNullable && !field.isArray && reader.int8() < 0) return null
  return field.struct === undefined ? reader.fail(`no layout of ${field.name}`) : readStruct(reader, field.struct)
}

function nullOf(reader: WireReader, field: FieldLayout): null {
  return field.isNullable ? null : reader.fail(`a null in ${field.name}`)
}

/** Kafka's "none" of Long.MAX_VALUE has no exact number; the largest exact one stands for it. */
function absentValue(reader: WireReader, schema: FieldLayout['schema']): unknown {
  const value = defaultOf(schema)
  if (reader.int64Form === 'number') return typeof value === 'bigint' ? Number.MAX_SAFE_INTEGER : value
  return schema.type === 'int64' && schema.array !== true && typeof value === 'number' ? BigInt(value) : value
}
