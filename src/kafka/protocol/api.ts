import { readStruct } from './message-decoder.ts'
import { writeStruct } from './message-encoder.ts'
import { layoutOf, type StructLayout } from './message-layout.ts'
import type { ApiName, RequestBodies, ResponseBodies } from './messages.generated.ts'
import type { MessageSchema } from './schema.ts'
import { API_KEYS, REQUEST_SCHEMAS, RESPONSE_SCHEMAS } from './schemas.generated.ts'
import { type Int64Form, WireReader } from './wire-reader.ts'
import { WireWriter } from './wire-writer.ts'

export type { ApiName, RequestBodies, ResponseBodies } from './messages.generated.ts'

/** What stands before every request's body. Kafka: `RequestHeader`. */
export interface RequestHeader {
  readonly apiKey: number
  readonly apiVersion: number
  readonly correlationId: number
  readonly clientId: string | null
  /** Where the body begins. */
  readonly bodyOffset: number
}

/** Kafka's number of a request. */
export function apiKeyOf(api: ApiName): number {
  return API_KEYS[api]
}

/** The request of a number; undefined for one this client does not speak. */
export function apiOfKey(apiKey: number): ApiName | undefined {
  return API_BY_KEY.get(apiKey)
}

/** First and last version of a request in the schemas; which one is spoken is the connection's choice. */
export function versionsOf(api: ApiName): { min: number; max: number } {
  const [min, max] = REQUEST_SCHEMAS[api].versions
  return { min, max }
}

/** The bytes of a request's body. Absent fields have the schema's default. */
export function encodeRequestBody<A extends ApiName>(api: A, version: number, body: RequestBodies[A]): Buffer {
  return encode(REQUEST_SCHEMAS[api], version, body)
}

/** The bytes of a response's body, as a broker writes them; for tests and proxies. */
export function encodeResponseBody<A extends ApiName>(api: A, version: number, body: ResponseBodies[A]): Buffer {
  return encode(RESPONSE_SCHEMAS[api], version, body)
}

/**
 * A request's body; for tests and proxies. Byte fields are slices.
 *
 * @throws PROTOCOL_VIOLATION
 */
export function decodeRequestBody<A extends ApiName>(api: A, version: number, bytes: Buffer): Required<RequestBodies[A]>
export function decodeRequestBody(api: ApiName, version: number, bytes: Buffer): object {
  return decode(REQUEST_SCHEMAS[api], version, bytes, 'number')
}

/**
 * A response's body; all fields present, byte and records fields are slices of `bytes`.
 *
 * @throws PROTOCOL_VIOLATION for bytes that are not this message, and for an int64 beyond ±(2^53−1)
 */
export function decodeResponseBody<A extends ApiName>(api: A, version: number, bytes: Buffer): ResponseBodies[A]
export function decodeResponseBody(api: ApiName, version: number, bytes: Buffer): object {
  return decode(RESPONSE_SCHEMAS[api], version, bytes, 'number')
}

/** What stands before a request's body: header version 2 where the version is flexible, else 1 (KIP-482). */
export function encodeRequestHeader(
  api: ApiName,
  version: number,
  correlationId: number,
  clientId: string | null,
): Buffer {
  const writer = new WireWriter(64)
  writer.int16(API_KEYS[api])
  writer.int16(version)
  writer.int32(correlationId)
  // The client id stays in its old form in every header version, so that any broker can read it.
  writer.string(clientId, false)
  if (isFlexible(REQUEST_SCHEMAS[api], version)) writer.unsignedVarint(0)
  return writer.finish()
}

/**
 * The header of a request of ours, for tests and proxies.
 *
 * @throws PROTOCOL_VIOLATION
 */
export function decodeRequestHeader(bytes: Buffer): RequestHeader {
  const reader = new WireReader(bytes, 'a request header')
  const apiKey = reader.int16()
  const apiVersion = reader.int16()
  const correlationId = reader.int32()
  const clientId = reader.string(false)
  const api = apiOfKey(apiKey)
  if (api !== undefined && isFlexible(REQUEST_SCHEMAS[api], apiVersion)) skipTags(reader)
  return { apiKey, apiVersion, correlationId, clientId, bodyOffset: reader.position }
}

/** What stands before a response's body, as a broker writes it. */
export function encodeResponseHeader(api: ApiName, version: number, correlationId: number): Buffer {
  const writer = new WireWriter(8)
  writer.int32(correlationId)
  if (hasResponseTags(api, version)) writer.unsignedVarint(0)
  return writer.finish()
}

/**
 * The header of a response to a request of that version.
 *
 * @throws PROTOCOL_VIOLATION
 */
export function decodeResponseHeader(
  api: ApiName,
  version: number,
  bytes: Buffer,
): { correlationId: number; bodyOffset: number } {
  const reader = new WireReader(bytes, `the header of ${api}Response version ${String(version)}`)
  const correlationId = reader.int32()
  if (hasResponseTags(api, version)) skipTags(reader)
  return { correlationId, bodyOffset: reader.position }
}

/** Encodes any message of the schemas; `body` is checked field by field. */
export function encode(schema: MessageSchema, version: number, body: object): Buffer {
  const writer = new WireWriter()
  writeStruct(writer, cachedLayout(schema, version), body)
  return writer.finish()
}

/**
 * Decodes any message of the schemas.
 *
 * @param trailing - what to do about bytes after its end, @default 'refused'
 * @throws PROTOCOL_VIOLATION
 */
export function decode(
  schema: MessageSchema,
  version: number,
  bytes: Buffer,
  int64Form: Int64Form,
  trailing: 'refused' | 'ignored' = 'refused',
): Record<string, unknown> {
  const reader = new WireReader(bytes, `${schema.name} version ${String(version)}`, 0, int64Form)
  const body = readStruct(reader, cachedLayout(schema, version))
  if (trailing === 'refused' && reader.left > 0) reader.fail(`${String(reader.left)} bytes after its end`)
  return body
}

const API_NAMES = Object.keys(API_KEYS).filter(isApiName)
const API_BY_KEY: ReadonlyMap<number, ApiName> = new Map(API_NAMES.map(api => [API_KEYS[api], api]))

function isApiName(name: string): name is ApiName {
  return name in API_KEYS
}

/** Layouts are compiled once per version; there are a few hundred at most. */
const layouts = new Map<MessageSchema, StructLayout[]>()

function cachedLayout(schema: MessageSchema, version: number): StructLayout {
  let versions = layouts.get(schema)
  if (versions === undefined) {
    versions = []
    layouts.set(schema, versions)
  }
  return (versions[version] ??= layoutOf(schema, version))
}

function isFlexible(schema: MessageSchema, version: number): boolean {
  return schema.flexibleFrom >= 0 && version >= schema.flexibleFrom
}

/** A client must be able to read ApiVersions before it knows what the broker speaks: its header has no tags ever. */
function hasResponseTags(api: ApiName, version: number): boolean {
  return api !== 'ApiVersions' && isFlexible(REQUEST_SCHEMAS[api], version)
}

function skipTags(reader: WireReader): void {
  for (let left = reader.unsignedVarint(); left > 0; left -= 1) {
    reader.unsignedVarint()
    reader.raw(reader.unsignedVarint())
  }
}
