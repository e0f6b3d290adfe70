import type { AnySerde, Serde, SerdeContext } from './serde.ts'

/** Known to every copy of millrace in the process. */
const MARK = Symbol.for('millrace.nullable')

/** A serde whose side may be null. */
class NullableSerde<T> implements Serde<T | null> {
  readonly [MARK] = true
  readonly name: string
  readonly inner: Serde<T>
  readonly serialize: (value: T | null, context: SerdeContext) => Uint8Array
  readonly deserialize: (bytes: Buffer, context: SerdeContext) => T

  constructor(inner: Serde<T>) {
    this.name = `${inner.name}?`
    this.inner = inner
    this.deserialize = inner.deserialize
    this.serialize = (value, context) => {
      if (value === null) throw new TypeError('a null reaches no serde: it is written as the null of Kafka')
      return inner.serialize(value, context)
    }
  }
}

/**
 * Lets nulls of this side through: `nullable(json<Order>())` makes the stream's type `Order | null`. Without it a null read
 * by a `stream` source is a failure under `errors.deserialization`; a table source needs it never (null value = deletion).
 * Kafka Streams: what every serde does silently.
 */
export function nullable<T>(serde: Serde<T>): Serde<T | null> {
  return new NullableSerde(serde)
}

/** Whether the serde was made by `nullable`, so that a source lets nulls through. */
export function isNullable(serde: AnySerde): boolean {
  return MARK in serde
}

/** The serde that `nullable` wraps, or the serde itself: equal bytes have equal inner serdes. */
export function withoutNull(serde: AnySerde): AnySerde
export function withoutNull(serde: object): object
export function withoutNull(serde: object): object {
  return MARK in serde && 'inner' in serde && isObject(serde.inner) ? withoutNull(serde.inner) : serde
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
