import { isUtf8 } from 'node:buffer'
import type { JsonFields } from './json-fields.ts'
import { type JsonSpeculation, JsonSpeculations } from './json-speculation.ts'
import { JsonWriter } from './json-writer.ts'
import { checkJsonText } from './json-text.ts'
import { shown } from './numbers.ts'
import type { Serde, SerdeContext } from './serde.ts'

/** A value that JSON can carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** Shown in the error when a type would not come back from JSON as it went in; give `json` a parse function instead. */
export interface NotJson<Kind extends string> {
  readonly 'JSON would not give this back': Kind
}

/** `T` when a `JSON.parse(JSON.stringify(value))` gives a `T` back; else a type that names the culprit. */
export type Jsonable<T> = unknown extends T
  ? T
  : T extends JsonValue
    ? T
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends bigint
        ? NotJson<'bigint'>
        : T extends symbol
          ? NotJson<'symbol'>
          : T extends Date
            ? NotJson<'Date'>
            : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
              ? NotJson<'Map or Set'>
              : T extends ArrayBufferView | ArrayBufferLike
                ? NotJson<'binary data'>
                : T extends (...args: never) => unknown
                  ? NotJson<'function'>
                  : { [P in keyof T]: Jsonable<T[P]> }

/**
 * JSON text; the type is believed, not checked. Integers beyond 2^53 are a failure, never rounded.
 * `json<Order>()` refuses types that JSON does not give back (Date, bigint, Map, …). Kafka Streams: a custom JSON serde.
 */
export function json<T extends { [P in keyof T]: Jsonable<T[P]> } = JsonValue>(): Serde<T>
/**
 * JSON text, checked when it is read: `json(orderSchema.parse)`. What `parse` throws is a failure under `errors.deserialization`.
 * Writing uses `JSON.stringify`. Kafka Streams: a custom JSON serde.
 */
export function json<T>(parse: (value: unknown) => T): Serde<T>
export function json<T>(parse?: (value: unknown) => T): Serde<T> | Serde<unknown> {
  if (parse === undefined) return PLAIN_JSON
  const serde: Serde<T> = {
    name: 'json',
    serialize: writeJson,
    deserialize: (bytes, context) => parse(readJson(bytes, context)),
  }
  PARSING.add(serde)
  return serde
}

/** Those that `json` has made with a parse function. */
const PARSING = new WeakSet<object>()

/** Whether a serde is `json` without a parse function: what it reads depends on the bytes alone. */
export function isPlainJson(serde: object): boolean {
  return serde === PLAIN_JSON
}

/** Whether a serde was made by `json`. */
export function isJson(serde: object): boolean {
  return serde === PLAIN_JSON || PARSING.has(serde)
}

const WRITER = new JsonWriter()

/** What is remembered of the JSON texts of this thread. */
const SPECULATIONS = new JsonSpeculations()

/**
 * Reads JSON text strictly: valid UTF-8, no rounded integers, no keys that reach a prototype, bounded depth. First it is tried
 * whether the text is written as others of its topic, because `JSON.parse` alone took half of what a record of JSON costs
 * (docs/performance.md); the result is the same.
 */
export function readJson(bytes: Buffer, context: SerdeContext | undefined): unknown {
  if (context === undefined) return parseJson(bytes, undefined)
  const speculation = SPECULATIONS.of(context.topic, context.side)
  const value = speculation.read(bytes)
  return value === undefined ? parseJson(bytes, speculation) : value
}

/**
 * As `readJson`, of the text between two places: `fields` themselves where they stand for the value, which are good until the
 * next text they read; else the whole value.
 */
export function readJsonFields(
  fields: JsonFields,
  bytes: Buffer,
  start: number,
  end: number,
  context: SerdeContext,
): unknown {
  const speculation = SPECULATIONS.of(context.topic, context.side)
  return speculation.readFields(fields, bytes, start, end) ? fields : parseJson(bytes.subarray(start, end), speculation)
}

function parseJson(bytes: Buffer, speculation: JsonSpeculation | undefined): unknown {
  if (!isUtf8(bytes)) throw new SyntaxError('the bytes are not valid UTF-8, so they are not JSON')
  const text = bytes.toString('utf8')
  const value: unknown = JSON.parse(text)
  checkJsonText(bytes, text, value)
  speculation?.parsed(text)
  return value
}

/** Writes a value as JSON text; a value without JSON form is a failure. */
export function writeJson(value: unknown): Buffer {
  const written = WRITER.write(value)
  if (written !== undefined) return Buffer.from(written)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`JSON has no form for ${String(value)}`)
  }
  const text: string | undefined = stringify(value)
  if (text === undefined) throw new TypeError(`JSON has no form for ${shown(value)}`)
  return Buffer.from(text, 'utf8')
}

/** One object for every `json()` without a parse function, so that equal serdes are the same serde. */
const PLAIN_JSON: Serde<unknown> = { name: 'json', serialize: writeJson, deserialize: readJson }

function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    const bigintInside = error instanceof TypeError && error.message.includes('BigInt')
    throw bigintInside
      ? new TypeError('JSON has no form for a bigint: write it as text (string(x)) or as a number', { cause: error })
      : error
  }
}
