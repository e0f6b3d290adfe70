import type { RecordHeaders } from '../model/headers.ts'

/** What a serde may know about the record whose side it converts. Kafka Streams: the `topic, headers` arguments of `Serializer`. */
export interface SerdeContext {
  /** Topic that is read or written; a changelog topic for a store. */
  readonly topic: string
  /** Whether the key or the value is converted. */
  readonly side: 'key' | 'value'
  /** Headers of the record; empty in a store. */
  readonly headers: RecordHeaders
}

/** The writing half of a serde. A `null` never reaches it: null is written as Kafka's null. Kafka Streams: `Serializer`. */
export interface Serializer<in T> {
  /** Short name shown by `describe()` and `graph`. */
  readonly name: string
  /** Turns a value into bytes; throwing is a record-level failure (`errors.production`, or `errors.processing` in a store). */
  readonly serialize: (value: T, context: SerdeContext) => Uint8Array
}

/** The reading half of a serde. A Kafka null never reaches it. Kafka Streams: `Deserializer`. */
export interface Deserializer<out T> {
  /** Short name shown by `describe()` and `graph`. */
  readonly name: string
  /** Turns bytes into a value; the bytes are a view that is valid during the call. Throwing is a failure under `errors.deserialization`. */
  readonly deserialize: (bytes: Buffer, context: SerdeContext) => T
}

/**
 * Converts between values and bytes, both ways, synchronously. Write your own by giving the three members.
 * Kafka Streams: `Serde`.
 */
export interface Serde<in out T> extends Serializer<T>, Deserializer<T> {}

/** Any serde, whatever its type; used to constrain type parameters. */
export type AnySerde = Serializer<never> & Deserializer<unknown>

/** The type a serde reads: `SerdeType<typeof orderSerde>`. */
export type SerdeType<S extends AnySerde> = S extends Deserializer<infer T> ? T : never

/** Bytes as they stand on the wire. */
export type Bytes = Uint8Array
