import { isDefault, type FieldLayout, type StructLayout } from '../../src/kafka/protocol/message-layout.ts'
import type { Json, JsonObject } from './golden-file.ts'

/** A decoded structure as Kafka's JsonConverter renders it. */
export function toKafkaJson(layout: StructLayout, value: Readonly<Record<string, unknown>>): JsonObject {
  const json: Record<string, Json> = {}
  for (const field of layout.plain) renderField(json, field, value[field.name])
  for (const field of layout.tagged) {
    if (!isDefault(field.schema, value[field.name])) renderField(json, field, value[field.name])
  }
  return json
}

function renderField(json: Record<string, Json>, field: FieldLayout, value: unknown): void {
  json[field.name] =
    field.isArray && Array.isArray(value)
      ? value.map(element => renderElement(field, element))
      : renderElement(field, value)
}

function renderElement(field: FieldLayout, value: unknown): Json {
  if (value === null) return null
  switch (field.type) {
    case 'uuid':
      return (value as Buffer).toString('base64url')
    case 'bytes':
      return (value as Buffer).toString('base64')
    case 'records':
      return ''
    case 'int64':
      return Number.isSafeInteger(Number(value)) ? Number(value) : (value as bigint).toString()
    case 'struct':
      if (field.struct === undefined) throw new Error(`no layout of ${field.name}`)
      return toKafkaJson(field.struct, value as Readonly<Record<string, unknown>>)
    case 'bool':
    case 'string':
    case 'int8':
    case 'int16':
    case 'uint16':
    case 'int32':
    case 'uint32':
    case 'float64':
      return value as Json
  }
}

/** The fields of a structure from Kafka's JSON; each records field takes the next of `records`. */
export function fromKafkaJson(layout: StructLayout, json: JsonObject, records: Buffer[]): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const field of [...layout.plain, ...layout.tagged]) {
    const given = json[field.name]
    if (given === undefined) continue
    value[field.name] =
      field.isArray && Array.isArray(given)
        ? given.map((element: Json) => parseElement(field, element, records))
        : parseElement(field, given, records)
  }
  return value
}

/** The same JSON where records given by their size stand as `''`, or null. */
export function withoutRecordSizes(json: Json): Json {
  if (Array.isArray(json)) return json.map(withoutRecordSizes)
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json as JsonObject).map(([name, value]) =>
      name === 'recordsSizeInBytes'
        ? ['records', typeof value === 'number' && value >= 0 ? '' : null]
        : [name, withoutRecordSizes(value)],
    ),
  )
}

/** The records fields of a decoded structure that are not null, in order of appearance. */
export function recordsIn(layout: StructLayout, value: Readonly<Record<string, unknown>>): Buffer[] {
  return [...layout.plain, ...layout.tagged].flatMap(field => {
    const given = value[field.name]
    if (given === null) return []
    if (field.type === 'records') return [given as Buffer]
    if (field.struct === undefined) return []
    const { struct } = field
    const structs = (field.isArray ? given : [given]) as readonly Readonly<Record<string, unknown>>[]
    return structs.flatMap(each => recordsIn(struct, each))
  })
}

function parseElement(field: FieldLayout, json: Json, records: Buffer[]): unknown {
  if (json === null) return null
  switch (field.type) {
    case 'uuid':
      return Buffer.from(json as string, 'base64url')
    case 'bytes':
      return Buffer.from(json as string, 'base64')
    case 'records': {
      const next = records.shift()
      if (next === undefined) throw new Error(`${field.name} has no bytes`)
      return next
    }
    case 'int64':
      return BigInt(json as string | number)
    case 'struct':
      if (field.struct === undefined) throw new Error(`no layout of ${field.name}`)
      return fromKafkaJson(field.struct, json as JsonObject, records)
    case 'bool':
    case 'string':
    case 'int8':
    case 'int16':
    case 'uint16':
    case 'int32':
    case 'uint32':
    case 'float64':
      return json
  }
}
